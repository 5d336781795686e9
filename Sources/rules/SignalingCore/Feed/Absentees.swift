import SignalingProtocol

/// The users who have no socket in a session, or a device without one, until the feed has told what is unread for them
/// (FEED-6).
struct Absentees: Hashable, Sendable {
    /// Beyond it the user who has read least is forgotten.
    static let limit = 1_000

    struct Absence: Hashable, Sendable {
        /// Up to where the user knows the messages.
        var place: Seq
        /// Since when a message waits; `nil` if none does.
        var since: MonotonicInstant?
    }

    private var absences: [UserID: Absence] = [:]
    /// Those for whom no message waits.
    private var caughtUpCount = 0
    /// The earliest moment since which a message waits, or an earlier one; `nil` if none does.
    private(set) var waitingSince: MonotonicInstant?

    var count: Int { absences.count }
    subscript(user: UserID) -> Absence? { absences[user] }

    /// A user with several devices knows what each of them has got.
    mutating func add(_ user: UserID, _ new: Absence) {
        let known = absences[user]
        var absence = new
        if let known, known.place > new.place { absence = known }
        remove(user)
        absences[user] = absence
        note(absence)
        guard absences.count > Self.limit else { return }
        let last = absences.min { ($0.value.place, $0.key) < ($1.value.place, $1.key) }
        if let last { remove(last.key) }
    }

    mutating func remove(_ user: UserID) {
        guard let absence = absences.removeValue(forKey: user) else { return }
        if absence.since == nil { caughtUpCount -= 1 }
    }

    private mutating func note(_ absence: Absence) {
        if let since = absence.since {
            waitingSince = MonotonicInstant.earlier(waitingSince, since)
        } else {
            caughtUpCount += 1
        }
    }

    /// A message was kept.
    mutating func messageKept(_ now: MonotonicInstant) {
        guard caughtUpCount > 0 else { return }
        for (user, absence) in absences where absence.since == nil { absences[user]?.since = now }
        caughtUpCount = 0
        waitingSince = MonotonicInstant.earlier(waitingSince, now)
    }

    /// Takes those for whom a message has waited since a moment, in the order of their names.
    mutating func take(waitingSince moment: MonotonicInstant) -> [(user: UserID, place: Seq)] {
        guard let earliest = waitingSince, earliest <= moment else { return [] }
        let due = absences.filter { $0.value.since.map { $0 <= moment } ?? false }
        for user in due.keys { absences[user] = nil }
        waitingSince = absences.values.compactMap(\.since).min()
        return due.map { ($0.key, $0.value.place) }.sorted { $0.user < $1.user }
    }
}

extension SessionState {
    /// A connection of a user loses its socket, or ends with it. Others of the user may go on, which is found out when a
    /// message has waited.
    ///
    /// - Parameter moment: the socket was there until then.
    mutating func noteAbsence(of user: UserID?, since moment: MonotonicInstant? = nil, _ now: MonotonicInstant) {
        guard let user, bounds.unreadDelay > .zero, rules >= .changes else { return }
        let place = (bounds.readMarkers == .off ? nil : markers[user]) ?? lastSeq(at: moment)
        let isUnread = unread(of: user, after: place) > 0
        absentees.add(user, Absentees.Absence(place: place, since: isUnread ? now : nil))
    }

    /// The last event at a moment; without one, at present.
    private func lastSeq(at moment: MonotonicInstant?) -> Seq {
        guard let moment else { return log.lastSeq }
        return log.entries.last { $0.appendedAt <= moment }?.seq ?? log.reachesBackTo
    }

    private func unread(of user: UserID, after place: Seq) -> Int {
        changeables.count(
            after: place, notBy: .user(user), scanning: Self.countedMessages, atMost: Limits.unreadCount)
    }

    /// When something is to be told of unread messages; `nil` if nothing is.
    var tellsUnreadAt: MonotonicInstant? { absentees.waitingSince?.advanced(by: bounds.unreadDelay) }

    /// Tells what is unread for users who are not connected (FEED-6), each once until the user has connected again.
    mutating func tellUnread(_ now: MonotonicInstant) {
        guard let due = tellsUnreadAt, due <= now else { return }
        let taken = absentees.take(waitingSince: now.advanced(by: .zero - bounds.unreadDelay))
        if taken.isEmpty { return }
        let connected = Set(roster.members.lazy.filter { !$0.isDetached }.compactMap(\.connection.user))
        for (user, place) in taken where !connected.contains(user) {
            let count = unread(of: user, after: place)
            guard count > 0, bounds.announces else {
                // What was unread has been erased.
                absentees.add(user, Absentees.Absence(place: place, since: nil))
                continue
            }
            // It has a place in the order, which no client gets.
            let entry = log.append(audience: .everyone, kind: .erased, now: now) { _ in .nothing }
            let newest = unarchived.lastKept
            announce(.unread(entry.seq, user, count: count, newest: newest), now)
        }
    }
}

extension Absentees: ByteCodable {
    func write(to writer: inout ByteWriter) {
        let sorted = absences.sorted { $0.key < $1.key }
        writer.write(count: sorted.count)
        for (user, absence) in sorted {
            writer.write(user)
            writer.write(absence.place)
            writer.write(absence.since)
        }
        writer.write(waitingSince)
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        for _ in 0..<(try reader.count(ofAtLeast: 3)) {
            let user: UserID = try reader.value()
            let absence = Absence(place: try reader.value(), since: try reader.optional())
            guard absences.updateValue(absence, forKey: user) == nil else { throw .malformed }
            note(absence)
        }
        let earliest: MonotonicInstant? = try reader.optional()
        guard absences.count <= Self.limit else { throw .malformed }
        waitingSince = earliest
    }
}
