/// A signal as an application receives it.
public struct Signal: Hashable, Sendable {
    public var type: String?
    /// The JSON text if the sender passed a value that is not a string (SIG-13).
    public var data: String?
    /// The sender, stamped by the server (G8); `nil` for a signal by REST. If the client knows only the sender's ID,
    /// the creation time is 0 and the data is empty.
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
