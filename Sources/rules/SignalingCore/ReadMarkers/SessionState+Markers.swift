import SignalingProtocol

/// Read markers (section 21 of docs/PROTOCOL.md).
extension SessionState {
    /// The newest messages among which unread ones are counted (READ-3).
    static let countedMessages = 1_000

    /// A client's user has read on. The marker waits for the log, together with those of others (READ-2).
    mutating func read(through seq: Seq, by binding: SocketBinding, _ now: MonotonicInstant) -> SessionOutcome {
        guard isAttached(binding), let member = roster[binding.connectionId] else { return .refused(.notInSession) }
        guard bounds.history != nil else { return .refused(.noHistory) }
        guard let user = member.connection.user, bounds.readMarkers != .off, rules >= .changes else {
            return .refused(
                SignalingError(.permissionDenied, "only users have read markers, where the session keeps them"))
        }
        let marker = ReadMarker(user, through: min(seq, log.lastSeq))
        if markers[user].map({ $0 < marker.through }) ?? true { waitingMarkers.note(marker, now) }
        return .marked
    }

    /// When the markers that wait belong into the log; `nil` without any.
    var markersDueAt: MonotonicInstant? { waitingMarkers.dueAt }

    mutating func takeMarkers() -> [ReadMarker] { waitingMarkers.take() }

    /// Sets markers, and tells those who are connected now (READ-3).
    mutating func mark(_ new: [ReadMarker], effects: inout [SessionEffect]) {
        for marker in new {
            let marker = ReadMarker(marker.user, through: min(marker.through, log.lastSeq))
            if markers.raise(marker), roster.count <= Limits.readerCount { tell(marker, effects: &effects) }
        }
    }

    private func tell(_ marker: ReadMarker, effects: inout [SessionEffect]) {
        let audiences: [Audience]
        switch bounds.readMarkers {
        case .off: audiences = []
        case .own:
            audiences = roster.members.filter { $0.connection.user == marker.user }
                .map { .only($0.connection.connectionId) }
        case .shared: audiences = [.everyone]
        }
        let line = EncodedLine(.read(marker))
        for audience in audiences {
            effects.append(
                .onlineOnly(
                    OnlineOnlySignal(
                        after: log.lastSeq, from: nil, type: nil, audience: audience, line: line,
                        marker: marker.user)))
        }
    }

    /// What a client learns when it connects (READ-3); `nil` if there is nothing for it.
    func readState(for user: UserID?) -> ReadState? {
        guard rules >= .changes, bounds.history != nil else { return nil }
        var state = ReadState(markers: bounds.readMarkers)
        switch bounds.readMarkers {
        case .off: return nil
        case .own: if user == nil { return nil }
        case .shared:
            if roster.count <= Limits.readerCount {
                state.readers = Array(markers.ordered.lazy.filter { $0.user != user }.prefix(Limits.readerCount))
            }
        }
        guard let user else { return state }
        state.through = markers[user]
        state.unread =
            state.through.map { through in
                changeables.count(
                    after: through, notBy: .user(user), scanning: Self.countedMessages, atMost: Limits.unreadCount)
            } ?? 0
        return state
    }
}
