/// A parser of untrusted input, with the rules that hold for any bytes.
///
/// scripts/fuzz runs each target under libFuzzer. `FuzzTests` replays the committed corpora in every test run.
public enum FuzzTarget: String, CaseIterable, Sendable {
    case json
    case clientLines = "client-lines"
    case tokens
    case sessionIDs = "session-ids"
    case requests
    case commands
    case httpHeads = "http-heads"
    case webSockets = "web-sockets"

    /// Passes the bytes to the parser. Ends the process if a rule is broken.
    public func run(_ bytes: UnsafeRawBufferPointer) {
        switch self {
        case .json: fuzzJSON(bytes)
        case .clientLines: fuzzClientLines(bytes)
        case .tokens: fuzzTokens(bytes)
        case .sessionIDs: fuzzSessionIDs(bytes)
        case .requests: fuzzRequests(bytes)
        case .commands: fuzzCommands(bytes)
        case .httpHeads: fuzzHTTPHeads(bytes)
        case .webSockets: fuzzWebSockets(bytes)
        }
    }
}
