import DequeModule
import SignalingProtocol

/// A presence event of which observers outside of the session may not have been told (LOG-11).
///
/// The session, its epoch, `commandNumber` and `index` together are the event's ID: a repeated one has the same.
public struct UntoldPresenceEvent: Hashable, Sendable {
    /// The command that caused the event.
    public let commandNumber: UInt64
    /// Counts the presence events of the command, from 0.
    public let index: UInt64
    /// The time of the command.
    public let time: MonotonicInstant
    public let event: PresenceEvent

    public init(commandNumber: UInt64, index: UInt64, time: MonotonicInstant, event: PresenceEvent) {
        self.commandNumber = commandNumber
        self.index = index
        self.time = time
        self.event = event
    }
}

/// A presence event that a durable session repeats until ``SessionEngine/noteTold(_:of:)``.
public struct KeptPresenceEvent: Hashable, Sendable {
    public let epoch: Epoch
    public let untold: UntoldPresenceEvent
    /// Whether it is the last event of its command. Once it is told, all of the command's events are.
    public let completesCommand: Bool

    public init(epoch: Epoch, untold: UntoldPresenceEvent, completesCommand: Bool) {
        self.epoch = epoch
        self.untold = untold
        self.completesCommand = completesCommand
    }
}

/// The presence events that wait until observers outside of the session have been told.
struct UntoldPresence: Hashable, Sendable {
    /// The maximum number of events. Beyond it the oldest are dropped.
    var limit: Int { didSet { dropOldest() } }
    /// In their order.
    private(set) var events: Deque<UntoldPresenceEvent> = []
    /// The command that is being carried out.
    var commandNumber: UInt64 = 0 { didSet { if commandNumber != oldValue { nextIndex = 0 } } }
    /// The index of the next event of this command.
    private(set) var nextIndex: UInt64 = 0

    init(limit: Int) { self.limit = limit }

    /// Events as they were kept.
    init(limit: Int, events: Deque<UntoldPresenceEvent>, commandNumber: UInt64, nextIndex: UInt64) {
        self.limit = limit
        self.events = events
        self.commandNumber = commandNumber
        self.nextIndex = nextIndex
    }

    mutating func append(_ event: PresenceEvent, at time: MonotonicInstant) {
        guard limit > 0 else { return }
        events.append(
            UntoldPresenceEvent(commandNumber: commandNumber, index: nextIndex, time: time, event: event))
        nextIndex &+= 1
        dropOldest()
    }

    mutating func remove(through number: UInt64) {
        while let first = events.first, first.commandNumber <= number { events.removeFirst() }
    }

    private mutating func dropOldest() { while events.count > max(0, limit) { events.removeFirst() } }
}

extension SessionState {
    /// The presence events that wait for ``told(through:)``, in their order; none without
    /// ``Bounds/untoldEventCount``.
    public var untold: Deque<UntoldPresenceEvent> { untoldPresence.events }

    /// The untold events of the newest command, which has this number, or of all commands. The time depends on the
    /// number of events returned, not on those that wait.
    func keptPresence(of number: UInt64? = nil) -> [KeptPresenceEvent] {
        var events = untold[...]
        if let number {
            let first = untold.lastIndex { $0.commandNumber != number }.map { untold.index(after: $0) }
            events = untold[(first ?? untold.startIndex)...]
        }
        return events.indices.map { index in
            let next = events.index(after: index)
            return KeptPresenceEvent(
                epoch: epoch, untold: events[index],
                completesCommand: next == events.endIndex || events[next].commandNumber != events[index].commandNumber)
        }
    }

    /// The number of the command that is carried out next, or at present. Set it before each command if the session
    /// keeps untold events. Numbers increase.
    public var commandNumber: UInt64 {
        get { untoldPresence.commandNumber }
        set { untoldPresence.commandNumber = newValue }
    }

    /// Observers outside of the session have been told of the events up to this command, or will never be.
    public mutating func told(through commandNumber: UInt64) { untoldPresence.remove(through: commandNumber) }

    /// Reports presence to observers outside of the session.
    mutating func report(_ event: PresenceEvent, _ now: MonotonicInstant, effects: inout [SessionEffect]) {
        effects.append(.presence(event))
        untoldPresence.append(event, at: now)
    }
}
