import SignalingProtocol

/// Which users have read the user's last message that somebody has read.
struct KnownReceipt: Equatable {
    let id: TimelineRow.ID
    let users: [UserID]
}

/// The read markers of the session (CHAT-16). Without them a chat counts as unread what arrives while it is not visible.
extension ChatRules {
    // MARK: Events

    /// A connection begins, or goes on.
    mutating func enterReading() {
        positions.enter(channel?.readState, of: channel?.user)
        markers.connected(channel?.readState?.through)
        timeline.marker = positions.own.map { max($0, markers.newest ?? $0) } ?? markers.newest
    }

    /// With the messages of a user, its marker goes.
    mutating func forgetReading(of user: UserID) {
        let isOwn = user == channel?.user
        positions.forget(user, isOwn: isOwn)
        guard isOwn else { return }
        markers.forget()
        timeline.marker = nil
    }

    mutating func heard(_ marker: ReadMarker) {
        positions.note(marker, of: channel?.user)
        if marker.user == channel?.user { markers.heard(marker.through) }
    }

    /// The changes of the rows that the markers make.
    mutating func settleReading() -> [TimelineChange] {
        let changes = positions.own.map { timeline.setMarker($0) } ?? []
        let receipt = receipt
        guard receipt != toldReceipt else { return changes }
        let rows = [toldReceipt?.id, receipt?.id == toldReceipt?.id ? nil : receipt?.id]
        toldReceipt = receipt
        return changes + rows.compactMap { timeline.index(ofRow: $0) }.map { .update(timeline.layout.row($0), at: $0) }
    }

    // MARK: The user

    /// How many messages are unread: of those that are not loaded the server has counted some.
    var unreadCount: Int {
        let loaded = timeline.unreadCount
        return timeline.reachesMarker ? loaded : max(loaded, positions.unreadCount(above: timeline.marker))
    }

    /// See ``TextChatComponent/markRead(upTo:)``.
    mutating func markRead(upTo id: TimelineRow.ID?) -> [TimelineChange] {
        let new = timeline.newSeq(upTo: id)
        let changes = timeline.markRead(upTo: id)
        return changes + (new.map { mark($0) } ?? [])
    }

    /// The user has read everything up to here.
    mutating func mark(_ seq: Seq) -> [TimelineChange] {
        guard hasMarker else { return [] }
        markers.mark(seq)
        return timeline.setMarker(seq)
    }

    private var hasMarker: Bool { positions.isOn && channel?.user != nil }

    /// The marker to send now.
    mutating func nextMarker(_ now: MonotonicInstant) -> Seq? { maySendMarker ? markers.next(now) : nil }

    var markerDeadline: MonotonicInstant? { maySendMarker ? markers.deadline : nil }

    private var maySendMarker: Bool { hasMarker && isUp && !isReturning }

    var receipt: KnownReceipt? {
        guard let greatest = positions.greatest, let id = timeline.lastOwn(through: greatest),
            let seq = timeline.message(of: id)?.seq
        else { return nil }
        return KnownReceipt(id: id, users: positions.readers(of: seq))
    }
}
