import Locking
import SignalingProtocol

/// Reactions and read markers. They are told at once, where a server waits up to a second.
extension MemorySession {
    // MARK: Reactions

    func react(_ request: ReactRequest, by sender: Connection) throws(SignalingError) {
        guard let user = sender.user, changes?.contains(.react) == true else {
            throw SignalingError(.permissionDenied, "only users react, where the session permits it")
        }
        try request.validate()
        let isFound = state.withLock { state in
            guard let message = state.kept.first(where: { $0.seq == request.ref }), message.content != .erased else {
                return false
            }
            let before = state.reactions[request.ref] ?? []
            guard Set(before.filter { $0.user == user }.map(\.key)) != Set(request.keys) else { return true }
            var after = before.filter { $0.user != user || request.keys.contains($0.key) }
            for key in request.keys where !after.contains(where: { $0 == (user, key) }) { after.append((user, key)) }
            state.tell(after, of: request.ref)
            let own = state.channels.filter { $0.connection.user == user }
            guard own.count > 1 else { return true }
            state.lastSeq += 1
            for channel in own {
                channel.put(.reacted(Seq(state.lastSeq), OwnReactions(ref: request.ref, keys: request.keys)))
            }
            return true
        }
        if !isFound { throw SignalingError(.notFound, "the session has no such message") }
    }

    func reactors(_ request: ReactorsRequest) -> [Reactors] {
        let reactions = state.withLock { $0.reactions[request.ref] ?? [] }
        return counts(of: reactions).filter { request.key == nil || $0.key == request.key }.map { each in
            Reactors(
                key: each.key, count: each.count, users: reactions.filter { $0.key == each.key }.map(\.user))
        }
    }

    /// What a user has chosen of these messages.
    func own(_ user: UserID, of refs: [Seq]) -> [OwnReactions] {
        state.withLock { state in
            refs.compactMap { ref in
                let keys = (state.reactions[ref] ?? []).filter { $0.user == user }.map(\.key)
                return keys.isEmpty ? nil : OwnReactions(ref: ref, keys: keys)
            }
        }
    }

    // MARK: Read markers

    func markRead(through seq: Seq, by sender: Connection) throws(SignalingError) {
        guard let user = sender.user, readMarkers != .off else {
            throw SignalingError(.permissionDenied, "only users have read markers, where the session keeps them")
        }
        state.withLock { state in
            let through = min(seq, Seq(state.lastSeq))
            guard through > state.markers[user] ?? Seq(0) else { return }
            state.markers[user] = through
            for channel in state.channels where readMarkers == .shared || channel.connection.user == user {
                channel.put(.read(ReadMarker(user, through: through)))
            }
        }
    }

    /// As of now.
    func readState(of user: UserID?) -> ReadState? {
        guard readMarkers == .shared || (readMarkers == .own && user != nil) else { return nil }
        return state.withLock { state in
            let through = user.flatMap { state.markers[$0] }
            let unread = state.kept.count { message in
                message.content != .erased && through.map { message.seq > $0 } ?? false && message.from?.user != user
            }
            let readers = state.markers.filter { $0.key != user }
                .map { ReadMarker($0.key, through: $0.value) }
                .sorted { ($1.through, $0.user.rawValue) < ($0.through, $1.user.rawValue) }
            return ReadState(
                markers: readMarkers, through: through, unread: user == nil ? nil : min(unread, Limits.unreadCount),
                readers: readMarkers == .shared ? readers : nil)
        }
    }
}

/// In the order of their oldest reaction.
private func counts(of reactions: [(user: UserID, key: String)]) -> [ReactionCount] {
    var counts: [ReactionCount] = []
    for (_, key) in reactions {
        if let index = counts.firstIndex(where: { $0.key == key }) {
            counts[index].count += 1
        } else {
            counts.append(ReactionCount(key, 1))
        }
    }
    return counts
}

extension MemorySession.State {
    /// The reactions to a message are these now.
    fileprivate mutating func tell(_ after: [(user: UserID, key: String)], of ref: Seq) {
        reactions[ref] = after
        lastSeq += 1
        let event = ReactionsEvent(seq: Seq(lastSeq), ref: ref, counts: counts(of: after))
        if let index = kept.firstIndex(where: { $0.seq == ref }) {
            kept[index].reactions = event.counts.isEmpty ? nil : .init(event.counts, seq: event.seq)
        }
        noteChange(of: ref)
        for channel in channels { channel.put(.reactions(event)) }
    }

    /// What an erasure of a user takes beside its messages.
    mutating func forget(_ user: UserID) {
        markers[user] = nil
        for (ref, before) in reactions.sorted(by: { $0.key < $1.key }) where before.contains(where: { $0.user == user })
        {
            tell(before.filter { $0.user != user }, of: ref)
        }
    }
}
