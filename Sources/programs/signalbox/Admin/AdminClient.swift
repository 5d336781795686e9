import ArgumentParser
import CommandSupport
import FoundationEssentials
import JSONText
import OutgoingHTTP
import SignalingTokens

/// How to reach the admin listener of a server, or the sessions of one project on the main port.
struct AdminOptions: ParsableArguments {
    private static let defaultURL = "http://127.0.0.1:9091"

    @Option(
        help: """
            The URL of the admin listener, or with credentials that of the server (SIGNALBOX_ADMIN_URL). (default: \
            \(Self.defaultURL))
            """)
    var url: String?

    @Option(
        help: """
            The admin token, if the listener asks for it (SIGNALBOX_ADMIN_TOKEN, or the file that \
            SIGNALBOX_ADMIN_TOKEN_FILE names). Prefer these: other users of the machine can see the options.
            """)
    var adminToken: String?

    @OptionGroup var signing: SigningOptions

    @Flag(help: "Print the server's JSON.") var json = false

    func client() throws -> AdminClient {
        let environment = ProcessInfo.processInfo.environment
        let text = url ?? environment.given("SIGNALBOX_ADMIN_URL") ?? Self.defaultURL
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme), url.host != nil else {
            throw ExitStatus.exit(ExitStatus.usage, "the URL is \"\(text)\". Use a URL such as \(Self.defaultURL).")
        }
        if let token = try adminToken ?? SecretVariable.value("SIGNALBOX_ADMIN_TOKEN") {
            return AdminClient(url: url, header: ("Authorization", "Bearer \(token)"))
        }
        do {
            return AdminClient(url: url, header: try signing.signer()?.requestHeader())
        } catch let error as ExitCode {
            throw error
        } catch {
            throw ExitStatus.exit(ExitStatus.failed, "cannot create credentials: \(error)")
        }
    }
}

/// Asks a server for its sessions.
struct AdminClient {
    let url: URL
    let header: (name: String, value: String)?

    /// - Parameter path: below `/admin/v1/`, its segments encoded.
    /// - Returns: the body of a successful response; `null` if it has none.
    func request(
        _ path: String, method: String = "GET", query: [(name: String, value: String)] = [], body: JSONValue? = nil
    ) async throws -> JSONValue {
        var components = URLComponents(url: url, resolvingAgainstBaseURL: false)
        components?.percentEncodedPath = "/admin/v1/" + path
        if !query.isEmpty { components?.queryItems = query.map { URLQueryItem(name: $0.name, value: $0.value) } }
        guard let target = components?.url else {
            throw ExitStatus.exit(ExitStatus.usage, "the URL \(url) cannot be used. Give --url.")
        }
        var request = HTTPRequest(url: target.absoluteString)
        request.method = method
        request.deadline = .seconds(30)
        request.body = body.map { [UInt8]($0.encoded()) }
        request.headers = (body == nil ? [] : [("Content-Type", "application/json")]) + (header.map { [$0] } ?? [])
        let response: HTTPRequest.Response
        do { response = try await request.send() } catch {
            throw ExitStatus.exit(
                ExitStatus.unreachable,
                "the server at \(url) cannot be reached. Start it with --admin-port, and check --url or "
                    + "SIGNALBOX_ADMIN_URL.")
        }
        let status = response.status
        let value = (try? JSONValue(parsing: response.body)) ?? .null
        if (200..<300).contains(status) { return value }
        let message = value.objectValue?["message"]?.stringValue ?? "the server answered with the status \(status)"
        throw ExitStatus.exit(
            [401, 403].contains(status) ? ExitStatus.notPermitted : ExitStatus.failed, Printable.text(message))
    }

    /// Asks for sleeping sessions until there are as many as asked for. The server reads a bounded number at a time.
    func sleepers(limit: Int, search: String?, before: String?) async throws -> JSONValue {
        var items: [JSONValue] = []
        var next = before
        repeat {
            let query =
                [("asleep", "true"), ("limit", "\(limit - items.count)")] + (search.map { [("search", $0)] } ?? [])
                + (next.map { [("before", $0)] } ?? [])
            let page = try await request("sessions", query: query)
            items += page["items"]?.arrayValue ?? []
            next = page["next"]?.stringValue
        } while next != nil && items.count < limit
        var answer: JSONObject = ["items": .array(items)]
        if let next { answer["next"] = .string(next) }
        return .object(answer)
    }

    /// A segment of a path.
    static func segment(_ text: String) -> String {
        text.utf8.map { byte in
            let character = Character(Unicode.Scalar(byte))
            let isPlain = character.isASCII && (character.isLetter || character.isNumber || "-._~".contains(character))
            return isPlain ? String(character) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }
}
