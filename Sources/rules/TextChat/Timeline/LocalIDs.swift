import SignalingProtocol

/// The rows of messages by the local IDs that their senders gave them: the user's own, and others' together with the
/// sender, to recognize a second delivery (CHAT-5). The local ID of a message that has changed may be forged, so it names
/// no message of another sender (CHAT-13).
struct LocalIDs: Sendable {
    private var own: [LocalID: TimelineRow.ID] = [:]
    private var others: [Other: TimelineRow.ID] = [:]

    private struct Other: Hashable {
        let senderID: String?
        let localID: LocalID
    }

    /// The row of the user's own message.
    func ownRow(_ localID: LocalID) -> TimelineRow.ID? { own[localID] }

    /// The row of the message with the name of this one; nil: there is none, or this one has no name.
    func row(of message: ChatMessage) -> TimelineRow.ID? {
        guard let localID = message.localID else { return nil }
        switch message.direction {
        case .sent: return own[localID]
        case .received: return others[Other(senderID: message.senderID, localID: localID)]
        }
    }

    mutating func add(_ message: ChatMessage, _ id: TimelineRow.ID) {
        guard let localID = message.localID, row(of: message) == nil else { return }
        switch message.direction {
        case .sent: own[localID] = id
        case .received:
            if message.version == nil { others[Other(senderID: message.senderID, localID: localID)] = id }
        }
    }

    mutating func remove(_ message: ChatMessage, _ id: TimelineRow.ID) {
        guard let localID = message.localID, row(of: message) == id else { return }
        switch message.direction {
        case .sent: own[localID] = nil
        case .received: others[Other(senderID: message.senderID, localID: localID)] = nil
        }
    }
}
