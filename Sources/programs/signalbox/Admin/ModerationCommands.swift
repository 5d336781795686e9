import ArgumentParser
import CommandSupport
import JSONText
import SignalingProtocol

/// `signalbox admin restrictions`, `mute`, `ban`, `freeze` and what undoes them (MOD-1, MOD-7).
struct ModerationOptions: ParsableArguments {
    @OptionGroup var admin: AdminOptions
    @Argument(help: "The session's id.") var session: String

    private var path: String { "sessions/\(AdminClient.segment(session))/moderation" }

    func list() async throws -> JSONValue { try await admin.client().request(path) }

    /// Erases messages (HIS-9).
    func erase(_ query: [(name: String, value: String)]) async throws {
        let path = "sessions/\(AdminClient.segment(session))/messages"
        _ = try await admin.client().request(path, method: "DELETE", query: query)
    }

    /// Carries an action out, and prints its seq.
    func moderate(_ action: JSONObject) async throws {
        let answer = try await admin.client().request(path, method: "POST", body: .object(action))
        for line in admin.json ? AdminText.json(answer) : AdminText.action(answer) { StandardOutput.print(line) }
    }
}

/// Whom an action concerns.
struct ModeratedUser: ParsableArguments {
    @Argument(help: "The user's id.") var user: String?
    @Option(help: "A connection in the place of USER: its user, or for a ban everybody with the token of a guest.")
    var connection: String?

    func validate() throws {
        guard (user == nil) != (connection == nil) else {
            throw ValidationError("Give the id of a user, or --connection with the id of a connection.")
        }
    }

    var member: JSONObject {
        if let user { return ["user": .string(user)] }
        return connection.map { ["connectionId": .string($0)] } ?? [:]
    }
}

/// How long a restriction holds, and why.
struct RestrictionTerms: ParsableArguments {
    @Option(help: "How long it holds, in seconds; at most 31536000 (a year). (default: until it is undone)")
    var seconds: Int64?
    @Option(help: "A text for the user concerned; at most 256 characters.") var reason: String?

    var members: JSONObject {
        var members: JSONObject = [:]
        if let seconds { members["seconds"] = .integer(seconds) }
        if let reason { members["reason"] = .string(reason) }
        return members
    }
}

extension JSONObject {
    /// An action with the members of its parts.
    fileprivate static func action(_ name: String, _ parts: JSONObject...) -> JSONObject {
        var action: JSONObject = ["action": .string(name)]
        for part in parts { for (name, value) in part { action[name] = value } }
        return action
    }
}

extension AdminCommands {
    struct RestrictionsCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "restrictions",
            abstract: "Show what holds in a session (mutes, bans, a freeze), and the last actions.",
            discussion: "`signalbox admin undo` undoes a restriction. Its REF is in the first column.")
        @OptionGroup var options: ModerationOptions

        func run() async throws {
            let answer = try await options.list()
            let lines = options.admin.json ? AdminText.json(answer) : AdminText.moderation(answer)
            for line in lines { StandardOutput.print(line) }
        }
    }

    struct MuteCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "mute", abstract: "Mute a user in a session: the user may not signal.")
        @OptionGroup var options: ModerationOptions
        @OptionGroup var subject: ModeratedUser
        @OptionGroup var terms: RestrictionTerms

        func run() async throws { try await options.moderate(.action("mute", subject.member, terms.members)) }
    }

    struct UnmuteCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "unmute", abstract: "Undo the mute of a user.")
        @OptionGroup var options: ModerationOptions
        @Argument(help: "The user's id.") var user: String

        func run() async throws { try await options.moderate(.action("unmute", ["user": .string(user)])) }
    }

    struct BanCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "ban",
            abstract: "Ban a user from a session: end the user's connections, and refuse new ones.",
            discussion: "`signalbox revoke --user USER` refuses a user in all sessions of a project."
        )
        @OptionGroup var options: ModerationOptions
        @OptionGroup var subject: ModeratedUser
        @OptionGroup var terms: RestrictionTerms
        @Flag(help: "Erase the user's messages from the session's history, too.") var eraseMessages = false

        func run() async throws {
            let erasure: JSONObject = eraseMessages ? ["eraseMessages": true] : [:]
            try await options.moderate(.action("ban", subject.member, terms.members, erasure))
        }
    }

    struct UnbanCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "unban", abstract: "Undo the ban of a user.")
        @OptionGroup var options: ModerationOptions
        @Argument(help: "The user's id.") var user: String

        func run() async throws { try await options.moderate(.action("unban", ["user": .string(user)])) }
    }

    struct FreezeCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "freeze", abstract: "Freeze a session: only moderators and backends may signal.")
        @OptionGroup var options: ModerationOptions
        @OptionGroup var terms: RestrictionTerms

        func run() async throws { try await options.moderate(.action("freeze", terms.members)) }
    }

    struct UnfreezeCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "unfreeze", abstract: "Undo the freeze of a session.")
        @OptionGroup var options: ModerationOptions

        func run() async throws { try await options.moderate(.action("unfreeze")) }
    }

    struct EraseCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "erase",
            abstract: "Erase messages from a session's history: those of a user, or all up to one.",
            discussion: "Nothing brings them back. Clients that show them take them away.")
        @OptionGroup var options: ModerationOptions
        @Argument(help: "The user's id.") var user: String?
        @Option(help: "In the place of USER: the number (seq) of the last message to erase.") var through: Int64?

        func validate() throws {
            guard (user == nil) != (through == nil) else {
                throw ValidationError("Give the id of a user, or --through with the number of a message.")
            }
        }

        func run() async throws {
            let names = [("user", user), ("through", through.map { "\($0)" })]
            try await options.erase(names.compactMap { name, value in value.map { (name, $0) } })
        }
    }

    struct UndoCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "undo", abstract: "Undo a restriction of any kind, also one of a guest.")
        @OptionGroup var options: ModerationOptions
        @Argument(help: "The restriction's REF, which `signalbox admin restrictions` shows.") var ref: Int64

        func run() async throws {
            let held = try await options.list()["restrictions"]?.arrayValue ?? []
            guard let restriction = held.first(where: { $0["ref"]?.integerValue == ref }),
                let kind = restriction["kind"]?.stringValue
            else {
                throw ExitStatus.exit(
                    ExitStatus.failed,
                    "no restriction with the REF \(ref) holds in this session. `signalbox admin restrictions` shows "
                        + "those that do.")
            }
            let isFreeze = kind == Restriction.Kind.freeze.rawValue
            try await options.moderate(.action("un" + kind, isFreeze ? [:] : ["ref": .integer(ref)]))
        }
    }
}
