import ArgumentParser
import CommandSupport
import Glibc
import JSONText
import SignalingProtocol
import SignalingServer
import SignalingTokens

struct HistoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "Print the messages that the server has kept of a session.",
        discussion: """
            Prints the newest messages, the oldest of them first, each in a line: time, sender and text. The operator \
            of the server chooses which messages it keeps, and for how long.

              signalbox history lobby
              signalbox history SESSION --all --json
            """)

    @Argument(help: "The session's id. With a server in development mode: the name of a room, such as lobby.")
    var session: String

    @Option(help: "Print messages before the one with this number (seq).")
    var before: Int64?

    @Option(help: "Print messages after the one with this number (seq).")
    var after: Int64?

    @Option(help: "How many messages to print, 1 to 200. (default: 50)")
    var limit: Int?

    @Flag(help: "Print all messages, from the first to the last, or as far as --after and --before say.")
    var all = false

    @Flag(help: "Print each message as a JSON object in a line, as the server has it.")
    var json = false

    @OptionGroup var signing: SigningOptions

    func validate() throws {
        if let before, before < 0 { throw ValidationError("--before must be 0 or more.") }
        if let after, !(0..<Int64.max).contains(after) { throw ValidationError("--after must be 0 or more.") }
        if let limit, !(1...Limits.historyPageCount).contains(limit) {
            throw ValidationError("--limit must be 1 to \(Limits.historyPageCount).")
        }
        if all, limit != nil { throw ValidationError("--all prints all messages. Leave out --limit.") }
        if !all, before != nil, after != nil {
            throw ValidationError("Use --before or --after. With --all you can use both.")
        }
    }

    func run() async throws {
        let reader = try await reader()
        if all { try await printAll(reader) } else { try await printPage(reader) }
    }

    private func printPage(_ reader: RESTHistory) async throws {
        let page = try await reader.page(query(before: before, after: after, limit: limit))
        var text = HistoryText()
        for message in page.messages { text.note(message.content) }
        for message in page.messages { show(message, text) }
        guard let first = page.messages.first, let last = page.messages.last else {
            StandardError.print("signalbox: there are no messages here")
            return
        }
        guard page.more else { return }
        StandardError.print(
            after == nil
                ? "signalbox: earlier messages exist. Give --before \(first.seq), or --all."
                : "signalbox: later messages exist. Give --after \(last.seq), or --all.")
    }

    /// From the first message on, so that the output is in order and no page is kept. The names are read before.
    private func printAll(_ reader: RESTHistory) async throws {
        var text = HistoryText()
        if !json { try await readAll(reader) { text.note($0.content) } }
        try await readAll(reader) { show($0, text) }
    }

    private func readAll(_ reader: RESTHistory, _ read: (RESTHistory.Message) -> Void) async throws {
        var position = after ?? 0
        while true {
            let page = try await reader.page(query(before: nil, after: position, limit: Limits.historyPageCount))
            for message in page.messages {
                if let before, message.seq >= before { return }
                read(message)
            }
            guard page.more, let last = page.messages.last, last.seq > position else { return }
            position = last.seq
        }
    }

    private func show(_ message: RESTHistory.Message, _ text: HistoryText) {
        if json {
            StandardOutput.print(json: message.json)
        } else {
            StandardOutput.print(text.line(message.content))
        }
    }

    private func query(before: Int64?, after: Int64?, limit: Int?) -> [(name: String, value: String)] {
        [("before", before), ("after", after), ("limit", limit.map { Int64($0) })].compactMap { name, value in
            value.map { (name, "\($0)") }
        }
    }

    private func reader() async throws -> RESTHistory {
        let server = try signing.serverOptions.url()
        let (id, key, signer): (String, APIKey, SigningOptions.Signer?)
        if let content = try? SessionIDCodec.read(SessionID(session)) {
            (id, key, signer) = (
                session, content.apiKey, try signing.givenSigner() ?? signing.localSigner(of: content.apiKey)
            )
        } else {
            let room = try await DevelopmentRoom.find(
                session, on: server, role: .subscriber, data: "", signer: signing.givenSigner())
            (id, key) = (room.sessionId, APIKey(room.apiKey))
            signer = try signing.localSigner(of: key) ?? signing.givenSigner()
        }
        guard let signer else {
            throw ExitStatus.exit(
                ExitStatus.usage,
                "reading the history needs the project's credentials. Give --api-key and --api-secret, or "
                    + "--application-id and --private-key-file, or their variables.")
        }
        return RESTHistory(project: ProjectResource(server: server, signer: signer), session: id)
    }
}

/// Reads a session's history by REST (HIS-10).
private struct RESTHistory {
    struct Message {
        let content: HistoryMessage
        /// As the server has sent it.
        let json: String

        var seq: Int64 { content.seq.rawValue }
    }

    let project: ProjectResource
    let session: String

    /// - Throws: the exit code for an answer that is no page.
    func page(_ query: [(name: String, value: String)]) async throws -> (messages: [Message], more: Bool) {
        let body = try await project.request("/session/\(session)/message", query: query)
        guard let page = try? HistoryPage(body: body) else { throw project.notSignalbox() }
        let texts = (body["messages"]?.arrayValue ?? []).map { $0.encodedText() }
        return (zip(page.messages, texts).map { Message(content: $0, json: $1) }, page.more)
    }
}
