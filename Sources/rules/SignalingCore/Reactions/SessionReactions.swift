import DequeModule
import SignalingProtocol

/// Who has reacted to which messages of a session, and with what (CHG-11); and whose counts are still to be told (CHG-12).
///
/// One flat list, since a message has few reactions mostly: 16 bytes for each.
struct SessionReactions: Sendable {
    /// The most reactions of a session, and of one message. Beyond the first, the oldest messages take no more.
    static let limit = 20_000
    static let limitPerMessage = 10_000
    /// The most messages whose counts are told together, and how often that is.
    static let toldTogether = 64
    /// As many are told at once when a user is erased: no file may keep the user's keys for long (HIS-9).
    static let toldBehindErasure = 512
    static let interval = Duration.seconds(1)

    private struct Reaction {
        let ref: Seq
        let key: UInt32
        let user: UInt32
    }

    /// In the order of their messages; those of one message in the order in which they came.
    private var reactions: Deque<Reaction> = []
    private var keys = Interned<ExactText>()
    private var users = Interned<UserID>()
    /// Messages up to this one take no reactions any more.
    private(set) var closedThrough = Seq.zero
    /// The messages whose counts are to be told, in the order in which they changed.
    private var due: Deque<Seq> = []
    private var dueRefs: Set<Seq> = []
    /// When counts may be told again.
    private var mayTellAt = MonotonicInstant(nanoseconds: .min)

    var count: Int { reactions.count }

    /// Whether there is something to tell.
    var mustTell: Bool { !dueRefs.isEmpty }

    /// When counts are told; `nil` if there is nothing to tell.
    var tellsAt: MonotonicInstant? { due.isEmpty ? nil : mayTellAt }

    // MARK: - Reading

    private func range(of ref: Seq) -> Range<Int> {
        let start = index(from: ref)
        return start..<index(from: ref.next, startingAt: start)
    }

    /// The index of the first reaction to this message or a later one.
    private func index(from ref: Seq, startingAt start: Int = 0) -> Int {
        var (low, high) = (start, reactions.count)
        while low < high {
            let middle = (low + high) / 2
            if reactions[middle].ref < ref { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// In the order of the oldest reaction with each key.
    func counts(of ref: Seq) -> [ReactionCount] {
        var found: [(key: UInt32, count: Int)] = []
        for reaction in reactions[range(of: ref)] {
            if let index = found.firstIndex(where: { $0.key == reaction.key }) {
                found[index].count += 1
            } else {
                found.append((reaction.key, 1))
            }
        }
        return found.map { ReactionCount(keys[$0.key].text, $0.count) }
    }

    func keys(of user: UserID, on ref: Seq) -> [String] {
        guard let user = users.known(user) else { return [] }
        return reactions[range(of: ref)].lazy.filter { $0.user == user }.map { keys[$0.key].text }
    }

    /// Some of those who have reacted, of each key the first ones.
    ///
    /// - Parameter key: `nil` for all keys, which then share the number of users.
    func reactors(of ref: Seq, key: String?) -> [Reactors] {
        let counts = counts(of: ref).filter { key == nil || ExactText($0.key) == key.map(ExactText.init) }
        let share = max(1, Limits.reactorCount / max(1, counts.count))
        return counts.map { count in
            let number = keys.known(ExactText(count.key))
            let some = reactions[range(of: ref)].lazy.filter { $0.key == number }.prefix(share)
            return Reactors(key: count.key, count: count.count, users: some.map { users[$0.user] })
        }
    }

    // MARK: - Reacting

    /// Replaces a user's reactions to a message.
    ///
    /// - Returns: whether that changes anything.
    /// - Throws: `invalidParameter` if the message would have too many keys or reactions, `rateLimited` if the session has
    ///   too many, and none of them can be closed.
    mutating func set(_ new: [String], of user: UserID, on ref: Seq) throws(SignalingError) -> Bool {
        let own = keys(of: user, on: ref).map(ExactText.init)
        var wanted: [ExactText] = []
        for key in new.map(ExactText.init) where !wanted.contains(key) { wanted.append(key) }
        let added = wanted.filter { !own.contains($0) }
        let removed = own.filter { !wanted.contains($0) }
        if added.isEmpty, removed.isEmpty { return false }
        if !added.isEmpty {
            let known = counts(of: ref).map { ExactText($0.key) }
            guard known.count + added.count(where: { !known.contains($0) }) <= Limits.reactionKeysPerMessage,
                range(of: ref).count + added.count <= Self.limitPerMessage
            else { throw SignalingError(.invalidParameter, "the message has as many reactions as it can have") }
            try makeRoom(for: added.count, on: ref)
        }
        let number = users.index(of: user)
        for key in removed {
            let key = keys.known(key)
            if let index = range(of: ref).first(where: { reactions[$0].user == number && reactions[$0].key == key }) {
                reactions.remove(at: index)
            }
        }
        let end = range(of: ref).upperBound
        let new = added.map { Reaction(ref: ref, key: keys.index(of: $0), user: number) }
        reactions.insert(contentsOf: new, at: end)
        noteDue(ref)
        forgetUnused()
        return true
    }

    /// The oldest messages take no more reactions, and are forgotten once they are told.
    private mutating func makeRoom(for count: Int, on ref: Seq) throws(SignalingError) {
        while reactions.count + count > Self.limit {
            let oldest = reactions.first { !dueRefs.contains($0.ref) }
            guard let oldest, oldest.ref < ref else {
                throw SignalingError(.rateLimited, "the session has too many reactions; wait before you send more")
            }
            settle(through: oldest.ref)
        }
    }

    /// Messages up to this one take no reactions any more. What was told of them stays in the archive.
    mutating func settle(through ref: Seq) {
        guard ref > closedThrough else { return }
        closedThrough = ref
        let end = index(from: ref.next)
        if end > 0 {
            let kept = reactions[..<end].filter { dueRefs.contains($0.ref) }
            reactions.replaceSubrange(..<end, with: kept)
            forgetUnused()
        }
    }

    private mutating func forgetUnused() {
        if keys.count + users.count > 2 * reactions.count + 64 { nameAnew() }
    }

    /// The tables have what is in use, and nothing else.
    private mutating func nameAnew() {
        let old = (keys, users)
        (keys, users) = (Interned(), Interned())
        for (index, each) in reactions.enumerated() {
            reactions[index] = Reaction(
                ref: each.ref, key: keys.index(of: old.0[each.key]), user: users.index(of: old.1[each.user]))
        }
    }

    // MARK: - Telling

    mutating func noteDue(_ ref: Seq) {
        if dueRefs.insert(ref).inserted { due.append(ref) }
    }

    /// The next messages to tell, if it is time.
    mutating func takeDue(at now: MonotonicInstant) -> [MessageReactions] {
        guard !due.isEmpty, now >= mayTellAt else { return [] }
        return takeDue(Self.toldTogether, now)
    }

    /// The next messages to tell.
    mutating func takeDue(_ count: Int, _ now: MonotonicInstant) -> [MessageReactions] {
        // Nothing is told, so the next change need not wait.
        if due.isEmpty { return [] }
        let refs = Array(due.prefix(count))
        due.removeFirst(refs.count)
        dueRefs.subtract(refs)
        mayTellAt = now.advanced(by: Self.interval)
        let told = refs.map { MessageReactions(ref: $0, counts: counts(of: $0)) }
        for ref in refs where ref <= closedThrough { reactions.removeSubrange(range(of: ref)) }
        return told
    }

    struct MessageReactions {
        let ref: Seq
        let counts: [ReactionCount]
    }

    // MARK: - Erasing

    /// Takes the reactions to a message away.
    mutating func erase(_ ref: Seq) {
        reactions.removeSubrange(range(of: ref))
        if dueRefs.remove(ref) != nil { due.removeAll { $0 == ref } }
        forgetUnused()
    }

    /// Takes the reactions to some messages away.
    mutating func erase(where isErased: (Seq) -> Bool) {
        for ref in Set(reactions.lazy.map(\.ref)).union(due).filter(isErased) { erase(ref) }
    }

    /// Takes a user's reactions away; the counts are told.
    mutating func erase(_ user: UserID) {
        guard let number = users.known(user) else { return }
        for each in reactions where each.user == number { noteDue(each.ref) }
        reactions.removeAll { $0.user == number }
        nameAnew()
    }

    func isDue(_ ref: Seq) -> Bool { dueRefs.contains(ref) }

    /// Whether the user has reacted to anything.
    func has(_ user: UserID) -> Bool { users.known(user) != nil }
}

extension SessionReactions {
    /// The first invariant that does not hold; `nil` if all do.
    var violation: String? {
        if reactions.count > Self.limit { return "CHG-11: the session has \(reactions.count) reactions" }
        for (earlier, later) in zip(reactions, reactions.dropFirst()) where earlier.ref > later.ref {
            return "CHG-11: a reaction to \(later.ref) stands behind one to \(earlier.ref)"
        }
        if due.count != dueRefs.count || !due.allSatisfy(dueRefs.contains) {
            return "CHG-12: \(due.count) messages are to be told, and \(dueRefs.count) are noted"
        }
        return nil
    }
}

extension SessionReactions: ByteCodable {
    func write(to writer: inout ByteWriter) {
        writer.write(closedThrough)
        writer.write(mayTellAt)
        writer.write(values: due)
        var (keys, users) = (Interned<ExactText>(), Interned<UserID>())
        var last: Int64 = 0
        writer.write(count: reactions.count)
        for each in reactions {
            writer.write(unsigned: UInt64(each.ref.rawValue - last))
            last = each.ref.rawValue
            keys.write(self.keys[each.key], to: &writer)
            users.write(self.users[each.user], to: &writer)
        }
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        closedThrough = try reader.value()
        mayTellAt = try reader.value()
        due = Deque(try reader.values(ofAtLeast: 1))
        dueRefs = Set(due)
        var last: UInt64 = 0
        for _ in 0..<(try reader.count(ofAtLeast: 3)) {
            let step = try reader.unsigned()
            guard step <= UInt64(Seq.greatest.rawValue) - last else { throw .malformed }
            last += step
            let (key, user) = (try keys.read(from: &reader), try users.read(from: &reader))
            reactions.append(Reaction(ref: Seq(Int64(last)), key: key, user: user))
        }
        guard violation == nil else { throw .malformed }
    }
}
