import ArgumentParser
import CommandSupport
import FoundationEssentials
import JSONText
import SignalingProtocol
import SignalingTokens

struct RevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Refuse tokens of a project before they expire.",
        discussion: """
            Refuses the tokens of a user, one token by its jti, or all tokens of the project, that were issued until \
            now, on all servers of the project. Their connections end. Tokens that are issued later are valid.

              signalbox revoke --user u-17
              signalbox revoke --all
              signalbox revoke --list
              signalbox revoke --user u-17 --undo
            """)

    @Option(help: "Refuse the tokens of the user with this id.")
    var user: String?

    @Option(help: "Refuse the token with this jti, whenever it was issued.")
    var jti: String?

    @Flag(help: "Refuse all tokens of the project.")
    var all = false

    @Option(help: "Refuse those that were issued before this second since 1970. (default: until now)")
    var before: Int64?

    @Flag(help: "Accept them again.")
    var undo = false

    @Flag(help: "Print what is refused. Those in the settings of the server are not among them.")
    var list = false

    @Flag(help: "Print JSON, as the server has it.")
    var json = false

    @OptionGroup var signing: SigningOptions

    func validate() throws {
        let subjectCount = [user != nil, jti != nil, all].count { $0 }
        guard subjectCount == (list ? 0 : 1) else {
            throw ValidationError("Give --user, --jti, --all, or --list.")
        }
        if before != nil, list || undo || jti != nil { throw ValidationError("--before is for --user and --all.") }
        if undo, list { throw ValidationError("--list only prints. Leave out --undo.") }
    }

    func run() async throws {
        let project = ProjectResource(server: try signing.serverOptions.url(), signer: try signing.requiredSigner())
        if list { return try await printAll(of: project) }
        if undo { return try await takeBack(of: project) }
        var body: JSONObject = [:]
        if let user { body["user"] = .string(user) }
        if let jti { body["jti"] = .string(jti) }
        if let before { body["before"] = .integer(before) }
        let answer = try await project.request(Self.path, method: .post, body: .object(body))
        guard let text = Self.text(answer) else { throw project.notSignalbox() }
        print(answer, "refused: \(text)")
    }

    private static let path = "/revocation"

    private func takeBack(of project: ProjectResource) async throws {
        let subject = [("user", user), ("jti", jti)].compactMap { name, value in value.map { (name: name, value: $0) } }
        _ = try await project.request(Self.path, method: .delete, query: subject)
        if !json { StandardOutput.print("accepted again") }
    }

    private func printAll(of project: ProjectResource) async throws {
        guard let all = try await project.request(Self.path)["revocations"]?.arrayValue else {
            throw project.notSignalbox()
        }
        for revocation in all {
            guard let text = Self.text(revocation) else { throw project.notSignalbox() }
            print(revocation, text)
        }
        if all.isEmpty, !json { StandardError.print("signalbox: no tokens are refused") }
    }

    private func print(_ revocation: JSONValue, _ text: String) {
        if json { StandardOutput.print(json: revocation.encodedText()) } else { StandardOutput.print(text) }
    }

    /// Which tokens are refused; `nil` for an object that is no revocation.
    private static func text(_ value: JSONValue) -> String? {
        guard let revocation = value.objectValue.flatMap({ try? Revocation(.object($0)) }) else { return nil }
        switch revocation {
        case .everything(let before): return "all tokens issued before \(date(before))"
        case .user(let user, let before):
            return "tokens of \(Printable.text(user.rawValue)) issued before \(date(before))"
        case .token(let jti): return "the token \(Printable.text(jti))"
        }
    }

    private static func date(_ seconds: Int64) -> String {
        // Up to the year 9999: it is what a server has sent.
        Date(timeIntervalSince1970: Double(min(max(seconds, 0), 253_402_300_799))).formatted(.iso8601)
    }
}
