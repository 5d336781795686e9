import SignalingProtocol

/// The messages of an outbox, in the order in which they were written, and how far each has come.
struct OutboxContents: Equatable {
    /// A message was given to a connection, and no answer is stored.
    struct Attempt: Equatable {
        var connection: ConnectionID
        var epoch: Epoch?
        /// The message has a greater seq, if it has one.
        var after: Seq
        /// The oldest message of the history, as far as it was known.
        var oldest: Seq?
    }

    enum State: Equatable {
        /// No byte of it has left.
        case waiting
        /// It may have arrived. The mark is stored before the first byte leaves.
        case handedOver(Attempt)
        /// It has failed or was cancelled, and waits for the user.
        case stopped
    }

    struct Entry: Equatable {
        var localID: LocalID
        var text: String
        var senderID: String?
        var senderAlias: String?
        var sentAt: WallTime?
        var replyTo: Seq?
        var state = State.waiting

        init(
            localID: LocalID, text: String, senderID: String? = nil, senderAlias: String? = nil,
            sentAt: WallTime? = nil, replyTo: Seq? = nil, state: State = .waiting
        ) {
            self.localID = localID
            self.text = text
            self.senderID = senderID
            self.senderAlias = senderAlias
            self.sentAt = sentAt
            self.replyTo = replyTo
            self.state = state
        }

        init?(_ message: ChatMessage) {
            guard let localID = message.localID else { return nil }
            self.init(
                localID: localID, text: message.text, senderID: message.senderID, senderAlias: message.senderAlias,
                sentAt: message.sentAt, replyTo: message.replyTo)
        }

        var message: ChatMessage {
            ChatMessage(
                text: text, senderID: senderID, senderAlias: senderAlias, sentAt: sentAt, receivedAt: sentAt,
                localID: localID, direction: .sent, state: state == .stopped ? .failed(.interrupted) : .sending,
                replyTo: replyTo)
        }
    }

    /// An outbox belongs to one room: what was written for one must not be sent to another.
    var room: String
    /// The last connection to which a message was given: the next one replaces it.
    var former: ConnectionClaim?
    private(set) var entries: [Entry] = []

    init(room: String, former: ConnectionClaim? = nil, entries: [Entry] = []) {
        self.room = room
        self.former = former
        self.entries = entries
    }

    mutating func append(_ message: ChatMessage) { if let entry = Entry(message) { entries.append(entry) } }

    mutating func remove(_ localID: LocalID) { entries.removeAll { $0.localID == localID } }

    /// The connection to which a message of unknown fate was given.
    func connection(of localID: LocalID) -> ConnectionID? {
        guard case .handedOver(let attempt)? = entries.first(where: { $0.localID == localID })?.state else {
            return nil
        }
        return attempt.connection
    }

    mutating func set(_ localID: LocalID, _ state: State) {
        if let index = entries.firstIndex(where: { $0.localID == localID }) { entries[index].state = state }
    }
}
