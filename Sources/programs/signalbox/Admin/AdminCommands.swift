import ArgumentParser
import CommandSupport
import FoundationEssentials
import Glibc
import JSONText

struct AdminCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "admin", abstract: "Show and moderate the sessions of a running server.",
        discussion: """
            Start the server with --admin-port. On the same machine the commands then need no credentials:

              signalbox serve --admin-port 9091
              signalbox admin sessions

            With a project's credentials and the server's own URL, they show the sessions of that project only:

              signalbox admin sessions --url https://signaling.example.org --api-key KEY

            No command shows the type or the data of a signal. docs/operations/administration.md describes the output.
            """,
        subcommands: [
            Sessions.self, SessionDetails.self, Connections.self, Disconnect.self, Statistics.self, Feed.self,
            RestrictionsCommand.self, MuteCommand.self, UnmuteCommand.self, BanCommand.self, UnbanCommand.self,
            FreezeCommand.self, UnfreezeCommand.self, UndoCommand.self, EraseCommand.self,
        ])

    struct Sessions: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "sessions", abstract: "List sessions, those with the most traffic first.")
        @OptionGroup var admin: AdminOptions
        @OptionGroup var watch: WatchOptions
        @Option(help: "How many sessions to list, 1 to 1000.") var limit = 20
        @Option(
            help: """
                List only sessions whose label, id, or connection data or user contains this text. With --asleep: whose \
                label or id contains it, or the id of a user with a restriction.
                """)
        var search: String?
        @Flag(
            help: """
                List sessions in which nobody is, and which keep messages or restrictions; of a project, the newest first.
                """)
        var asleep = false
        @Option(help: "With --asleep: go on where an earlier list has ended. It names the value.") var before: String?

        func validate() throws {
            if before != nil, !asleep { throw ValidationError("--before is for --asleep.") }
            if asleep, !(1...1000).contains(limit) { throw ValidationError("--limit must be 1 to 1000.") }
        }

        func run() async throws {
            let client = try admin.client()
            try await watch.show {
                if asleep {
                    let answer = try await client.sleepers(limit: limit, search: search, before: before)
                    return admin.json ? AdminText.json(answer) : AdminText.sleepers(answer)
                }
                let query = [("limit", "\(limit)")] + (search.map { [("search", $0)] } ?? [])
                let answer = try await client.request("sessions", query: query)
                return admin.json ? AdminText.json(answer) : AdminText.sessions(answer)
            }
        }
    }

    struct SessionDetails: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "session", abstract: "Show one session and its connections.")
        @OptionGroup var admin: AdminOptions
        @OptionGroup var watch: WatchOptions
        @Argument(help: "The session's id.") var session: String
        @Option(help: "How many connections to list, 1 to 1000.") var limit = 100

        func run() async throws {
            let client = try admin.client()
            let path = "sessions/\(AdminClient.segment(session))"
            try await watch.show {
                let details = try await client.request(path)
                let members: JSONValue =
                    details["asleep"]?.boolValue == true
                    ? ["count": 0, "items": []]
                    : try await client.request("\(path)/connections", query: [("limit", "\(limit)")])
                if admin.json {
                    return AdminText.json(["session": details, "connections": members])
                }
                return AdminText.session(details) + [""] + AdminText.connections(members)
            }
        }
    }

    struct Connections: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "connections", abstract: "List the connections of all sessions.")
        @OptionGroup var admin: AdminOptions
        @OptionGroup var watch: WatchOptions
        @Option(help: "How many connections to list, 1 to 1000.") var limit = 100

        func run() async throws {
            let client = try admin.client()
            try await watch.show {
                let answer = try await client.request("connections", query: [("limit", "\(limit)")])
                return admin.json ? AdminText.json(answer) : AdminText.connections(answer)
            }
        }
    }

    struct Disconnect: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "disconnect", abstract: "Disconnect one connection. Its client cannot resume it.")
        @OptionGroup var admin: AdminOptions
        @Argument(help: "The session's id.") var session: String
        @Argument(help: "The connection's id.") var connection: String

        func run() async throws {
            let path =
                "sessions/\(AdminClient.segment(session))/connections/\(AdminClient.segment(connection))"
            _ = try await admin.client().request(path, method: "DELETE")
        }
    }

    struct Feed: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "feed", abstract: "List the backends that consume feeds, and how far each is behind.")
        @OptionGroup var admin: AdminOptions
        @OptionGroup var watch: WatchOptions

        func run() async throws {
            let client = try admin.client()
            try await watch.show {
                let answer = try await client.request("feeds")
                return admin.json ? AdminText.json(answer) : AdminText.feeds(answer)
            }
        }
    }

    struct Statistics: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "stats", abstract: "Show the numbers of the whole server.")
        @OptionGroup var admin: AdminOptions
        @OptionGroup var watch: WatchOptions

        func run() async throws {
            let client = try admin.client()
            try await watch.show {
                let answer = try await client.request("stats")
                return admin.json ? AdminText.json(answer) : AdminText.statistics(answer)
            }
        }
    }
}

/// `--watch`: the same output again and again.
struct WatchOptions: ParsableArguments {
    @Flag(help: "Repeat every two seconds, until the command is interrupted.") var watch = false

    /// Prints the lines once, or repeatedly. On a terminal each output replaces the last one.
    func show(_ lines: () async throws -> [String]) async throws {
        while true {
            let text = try await lines().joined(separator: "\n")
            if watch, isatty(STDOUT_FILENO) == 1 {
                StandardOutput.redraw(text)
            } else {
                StandardOutput.print(text)
            }
            if !watch { return }
            try await Task.sleep(for: .seconds(2))
        }
    }
}
