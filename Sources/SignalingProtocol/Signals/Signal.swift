/// A signal as it arrives.
public struct Signal: Hashable, Sendable {
    public var type: String?
    public var data: String?
    /// Who sent it, as the server stamped it (G8); `nil` for a signal that came by REST.
    public var from: Connection?
    /// Its place in the session's order; `nil` for an online-only signal.
    public var seq: Seq?
    /// Meant for this connection alone.
    public var isDirected: Bool

    public init(
        type: String? = nil, data: String? = nil, from: Connection? = nil, seq: Seq? = nil, isDirected: Bool = false
    ) {
        self.type = type
        self.data = data
        self.from = from
        self.seq = seq
        self.isDirected = isDirected
    }
}
