/// What happens to a message of a session's history (CHG-1).
public enum MessageChange: Hashable, Sendable {
    /// Other content takes the place of the message's own. The type stays.
    ///
    /// - Parameters:
    ///   - data: at most ``Limits/dataLength`` UTF-16 units.
    ///   - isJSON: whether `data` is the JSON text of a value other than a string (SIG-13).
    case edit(data: String?, isJSON: Bool)

    public var kind: ChangeKind {
        switch self {
        case .edit: .edit
        }
    }
}

/// What a session may permit: to the authors of messages, and to react to all users (CHG-3).
public enum ChangeKind: String, CaseIterable, Hashable, Sendable {
    case edit
    case erase
    case react
}

/// A change as a client asks for it.
public struct ChangeRequest: Hashable, Sendable {
    /// The seq of the message.
    public var ref: Seq
    public var change: MessageChange

    public init(_ ref: Seq, _ change: MessageChange) {
        self.ref = ref
        self.change = change
    }

    /// - Throws: `tooLong` for data over ``Limits/dataLength``.
    public func validate() throws(SignalingError) {
        switch change {
        case .edit(let data, _): try SignalRequest(data: data).validate()
        }
    }
}

/// A change as the server tells it to every client (CHG-2).
public struct ChangeEvent: Hashable, Sendable {
    /// Of the change.
    public var seq: Seq
    /// Of the message.
    public var ref: Seq
    /// Who has changed it, stamped by the server (G8); `nil` for a change by REST.
    public var from: ConnectionID?
    /// The sender's connection. Only clients that suppress connection events get it (SIG-9).
    public var sender: Connection?
    /// `nil` for a change that this version does not know: ask for the message (CHG-2).
    public var change: MessageChange?

    public init(seq: Seq, ref: Seq, from: ConnectionID?, sender: Connection? = nil, change: MessageChange?) {
        self.seq = seq
        self.ref = ref
        self.from = from
        self.sender = sender
        self.change = change
    }
}
