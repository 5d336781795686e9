/// A signal as an application receives it.
public struct Signal: Hashable, Sendable {
    public var type: String?
    public var data: String?
    /// The sender, stamped by the server (G8); `nil` for a signal by REST.
    public var from: Connection?
    /// The signal's sequence number in the session; `nil` for an online-only signal.
    public var seq: Seq?
    /// Whether the signal is for this connection alone.
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
