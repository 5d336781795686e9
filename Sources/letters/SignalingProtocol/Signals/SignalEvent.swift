/// A signal as the server sends it to its receivers.
public struct SignalEvent: Hashable, Sendable {
    /// `nil` for an online-only signal.
    public var seq: Seq?
    /// The sender, stamped by the server (G8); `nil` for a signal by REST.
    public var from: ConnectionID?
    /// The sender's connection. Only clients that suppress connection events get it (SIG-9).
    public var sender: Connection?
    public var type: String?
    public var data: String?
    /// Whether `data` is the JSON text of a value other than a string (SIG-13).
    public var isJSON: Bool
    /// The target of a directed signal; `nil` for a broadcast.
    public var to: ConnectionID?

    public init(
        seq: Seq?, from: ConnectionID?, sender: Connection? = nil, type: String?, data: String?,
        isJSON: Bool = false, to: ConnectionID? = nil
    ) {
        self.seq = seq
        self.from = from
        self.sender = sender
        self.type = type
        self.data = data
        self.isJSON = isJSON
        self.to = to
    }
}
