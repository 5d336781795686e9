import SignalingProtocol

/// The events of one epoch, as the lines of all clients show them.
struct WireOrder: Sendable {
    /// A number for a connection ID, so that an event needs few bytes.
    typealias Name = Int32
    /// A number for a user id.
    typealias User = Int32

    enum Target: Hashable, Sendable {
        case all
        case connection(Name)
    }

    enum Event: Hashable, Sendable {
        /// `signal` is the number of its sending. `from` is nil for a signal through REST.
        case signal(Int32, from: Name?, to: Target)
        case created(Name)
        case destroyed(Name)
        case erased(Erasure)
        /// The number of an edit.
        case changed(Int32)
        /// The number of what is told of reactions.
        case told(Int32, isOwn: Bool = false)
        /// The number of an action.
        case moderated(Int32)
        /// The number of a restriction. Whom it is meant for, the action before it says.
        case restricted(Int32)
        case unrestricted(WireRestriction.Kind)

        /// Whether the event is meant for a reader (PROTOCOL.md, section 1).
        ///
        /// - Parameter audience: whom an event of moderation is meant for that follows an action; nil if it is not known.
        /// - Returns: nil if it is not known.
        func isMeant(for reader: Reader, audience: WireRestrictions.Subject? = nil) -> Bool? {
            switch self {
            case .signal(_, _, .all), .erased, .changed, .told(_, isOwn: false): true
            // The line does not say whose it is.
            case .told: nil
            case .signal(_, _, .connection(let target)): target == reader.name
            case .created(let other), .destroyed(let other): other != reader.name && !reader.suppressesPresence
            case .moderated: reader.person.isModerator
            case .restricted, .unrestricted: audience.map { $0 == .session || $0 == reader.person.subject }
            }
        }

        var isBroadcast: Bool {
            switch self {
            case .signal(_, _, .all), .erased, .changed, .told(_, isOwn: false): true
            case .signal(_, _, .connection), .created, .destroyed, .told, .moderated, .restricted, .unrestricted: false
            }
        }
    }

    /// A connection that gets events.
    struct Reader: Sendable {
        var name: Name
        var suppressesPresence: Bool
        var person: WireRestrictions.Person
    }

    /// Which messages were erased (HIS-9).
    enum Erasure: Hashable, Sendable {
        case message(Int)
        case through(Int)
        case user(User)

        /// - Parameter user: of the message's sender.
        func covers(_ seq: Int, of user: @autoclosure () -> User?) -> Bool {
            switch self {
            case .message(let erased): seq == erased
            case .through(let last): seq <= last
            case .user(let erased): user() == erased
            }
        }
    }

    /// Where an order may begin that follows a lost one with a history (HIS-3).
    private static let leastLaterStart = 1_000_000_000
    /// How far an event may be from the known ones. Farther ones would take the judge's memory.
    private static let longestGap = 1 << 22

    /// The session whose order this is.
    let session: String
    /// The seq before the first known event: 0, unless the order follows a lost one with a history.
    private(set) var base = 0
    /// By the distance from `base`; nil where no client has seen the event yet.
    private var events: [Event?] = [nil]
    private var erasures: [(seq: Int, erasure: Erasure)] = []
    /// When the tap first saw each departure.
    private(set) var departures: [Name: MonotonicInstant] = [:]
    /// The connections whose departure has the reason `networkDisconnected`.
    private(set) var networkLosses: Set<Name> = []
    /// Bytes of all lines up to each seq, roughly what the log holds.
    private var byteCounts: [Int] = [0]
    /// When the tap first saw each event, in ms.
    private var seenAt: [Int32] = [0]
    /// The actions of moderators and of REST, by their seqs.
    private(set) var actions: [Int: NotedAction] = [:]

    init(session: String) { self.session = session }

    var lastSeq: Int { base + events.count - 1 }
    /// The seqs of the order, as far as it is known; at least one.
    var seqs: ClosedRange<Int> { (base + 1)...max(lastSeq, base + 1) }

    subscript(seq: Int) -> Event? { seqs.contains(seq) && seq <= lastSeq ? events[seq - base] : nil }

    /// The bytes of the known events after `seq`.
    func byteCount(after seq: Int) -> Int {
        guard seq >= base, seq <= lastSeq, let last = byteCounts.last else { return 0 }
        return last - byteCounts[seq - base]
    }

    mutating func noteNetworkLoss(of name: Name) { networkLosses.insert(name) }

    /// Whether an event at `seq` can be one of this order.
    func canHave(_ seq: Int) -> Bool {
        if lastSeq == 0 { return seq < Self.longestGap || seq >= Self.leastLaterStart }
        return seq <= lastSeq + Self.longestGap && seq >= base - Self.longestGap
    }

    /// Records the event at `seq`, unless one is known there.
    mutating func note(_ event: Event, at seq: Int, byteCount: Int, seen now: MonotonicInstant) {
        guard seq > 0, canHave(seq) else { return }
        if lastSeq == 0, seq >= Self.leastLaterStart { base = seq - 1 }
        if seq <= base {
            let gap = base - seq + 1
            events.insert(contentsOf: Array(repeating: nil, count: gap), at: 0)
            byteCounts.insert(contentsOf: Array(repeating: 0, count: gap), at: 0)
            seenAt.insert(contentsOf: Array(repeating: 0, count: gap), at: 0)
            base -= gap
        }
        while lastSeq < seq {
            events.append(nil)
            byteCounts.append((byteCounts.last ?? 0) + byteCount)
            seenAt.append(0)
        }
        if events[seq - base] != nil { return }
        events[seq - base] = event
        seenAt[seq - base] = Int32(clamping: now.nanoseconds / 1_000_000)
        switch event {
        case .destroyed(let name): departures[name] = now
        case .erased(let erasure): erasures.append((seq, erasure))
        case .signal, .created, .changed, .told, .moderated, .restricted, .unrestricted: break
        }
    }

    /// Records what is known of the action at `seq`, beside the event.
    mutating func noteAction(at seq: Int, _ new: NotedAction, _ change: (inout NotedAction) -> Void) {
        change(&actions[seq, default: new])
    }

    /// The event at `seq` turns out to be one of another order.
    mutating func forget(_ seq: Int) {
        guard seqs.contains(seq), seq <= lastSeq else { return }
        events[seq - base] = nil
        actions[seq] = nil
    }

    /// When the tap first saw the event at `seq`, to a millisecond.
    func moment(of seq: Int) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: Int64(seenAt[seq - base]) * 1_000_000)
    }

    /// Whether a message is erased, by an event between two seqs.
    ///
    /// - Parameter user: of its sender.
    func isErased(
        _ message: Int, behind seq: Int, before end: Int = .max, of user: @autoclosure () -> User?
    ) -> Bool {
        erasures.contains { $0.seq > seq && $0.seq < end && $0.erasure.covers(message, of: user()) }
    }

    /// Whether the messages of any user are erased behind a seq.
    func erasesUser(behind seq: Int) -> Bool {
        erasures.contains { if case .user = $0.erasure { $0.seq > seq } else { false } }
    }

    /// How many seqs have an event that no client has seen.
    var unseenCount: Int { events.dropFirst().count { $0 == nil } }

    /// Whether every event up to `seq` is known. An order that follows a lost one begins at an unknown seq.
    func isComplete(through seq: Int) -> Bool {
        base == 0 && seq <= lastSeq && !events[1..<(seq + 1)].contains { $0 == nil }
    }
}
