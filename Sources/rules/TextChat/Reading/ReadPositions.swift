import SignalingProtocol

/// How far the users of a session have read it, as far as a chat knows (READ-3).
struct ReadPositions {
    /// The session has read markers.
    private(set) var isOn = false
    /// How far the user has read, on any device; nil: the user has no marker yet, or is a guest.
    private(set) var own: Seq?
    /// How many messages the server has counted above a marker of the user.
    private var unread: (above: Seq, count: Int)?
    /// The markers of other users.
    private var others: [UserID: Seq] = [:]

    /// A connection begins, or goes on.
    ///
    /// - Parameter user: the chat's own.
    mutating func enter(_ state: ReadState?, of user: UserID?) {
        isOn = state != nil
        own = state?.through
        unread = state?.through.flatMap { through in state?.unread.map { (through, $0) } }
        let readers = (state?.readers ?? []).filter { $0.user != user }
        others = Dictionary(readers.map { ($0.user, $0.through) }, uniquingKeysWith: max)
    }

    /// - Parameter user: the chat's own.
    mutating func note(_ marker: ReadMarker, of user: UserID?) {
        if marker.user == user {
            own = max(own ?? marker.through, marker.through)
        } else {
            others[marker.user] = max(others[marker.user] ?? marker.through, marker.through)
        }
    }

    /// The user's marker is gone with its messages.
    mutating func forget(_ user: UserID, isOwn: Bool) {
        others[user] = nil
        if isOwn { own = nil }
    }

    /// The server's count, if it is of this marker.
    func unreadCount(above marker: Seq?) -> Int { unread.map { $0.above == marker ? $0.count : 0 } ?? 0 }

    /// How far some other user has read.
    var greatest: Seq? { others.values.max() }

    /// Who has read this message: by marker, the greatest first, and then by user.
    func readers(of seq: Seq) -> [UserID] {
        others.filter { $0.value >= seq }
            .sorted { ($1.value, $0.key.rawValue) < ($0.value, $1.key.rawValue) }
            .map(\.key)
    }
}
