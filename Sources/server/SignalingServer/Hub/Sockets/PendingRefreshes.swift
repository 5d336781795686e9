import SignalingProtocol
import SignalingTokens

/// The newer tokens that a client has shown and its session has not accepted yet (CON-12). Until then a revocation of
/// the present token ends the connection: the session may refuse the newer one, which may be another user's.
///
/// A connection has at most 256 unanswered requests (WIRE-13), so no more wait here.
struct PendingRefreshes {
    private var tokens: [(request: RequestID, origin: TokenOrigin)] = []

    var isEmpty: Bool { tokens.isEmpty }

    mutating func add(_ origin: TokenOrigin, _ request: RequestID) { tokens.append((request, origin)) }

    /// The session has answered.
    mutating func remove(_ request: RequestID?) -> TokenOrigin? {
        guard let index = tokens.firstIndex(where: { $0.request == request }) else { return nil }
        return tokens.remove(at: index).origin
    }
}
