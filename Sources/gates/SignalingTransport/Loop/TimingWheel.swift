import SignalingProtocol

/// The deadlines of many keys, with `schedule` and `cancel` in constant time. libwebsockets' own timers are one sorted
/// list that is walked on each insert. The wheel is a value: it reads no clock and sets no timer.
///
/// Inlinable, since its users are in other modules and set a deadline for each connection: unspecialised it costs ten
/// times as much.
///
/// A key's slot depends on its deadline. The wheel may turn several times, so any deadline is legal: one within
/// `resolution` × `slotCount` is inspected once, a later one once per turn of the wheel.
public struct TimingWheel<Key: Hashable> {
    @usableFromInline struct Entry {
        @usableFromInline let key: Key
        @usableFromInline let deadline: Int64

        @inlinable init(key: Key, deadline: Int64) {
            self.key = key
            self.deadline = deadline
        }
    }
    @usableFromInline struct Position: Sendable {
        @usableFromInline var slot: Int32
        @usableFromInline var index: Int32

        @inlinable init(slot: Int32, index: Int32) {
            self.slot = slot
            self.index = index
        }
    }

    /// The time that one slot covers. It affects cost only: expiry is exact.
    public let resolution: Duration
    @usableFromInline let tick: Int64
    @usableFromInline let mask: Int
    @usableFromInline var slots: [[Entry]]
    @usableFromInline var positions: [Key: Position] = [:]
    /// The tick up to which slots were inspected; its slot may still hold later deadlines of the same tick.
    @usableFromInline var cursor: Int64 = .min

    /// - Parameters:
    ///   - resolution: at least 1 ms.
    ///   - slotCount: rounded up to a power of two.
    public init(resolution: Duration = .milliseconds(100), slotCount: Int = 512) {
        let nanoseconds = max(1_000_000, resolution.wholeNanoseconds)
        var count = 2
        while count < slotCount { count *= 2 }
        self.resolution = .nanoseconds(nanoseconds)
        tick = nanoseconds
        mask = count - 1
        slots = Array(repeating: [], count: count)
    }

    @inlinable public var count: Int { positions.count }
    @inlinable public var isEmpty: Bool { positions.isEmpty }

    /// Sets the key's deadline. Replaces an earlier deadline.
    @inlinable public mutating func schedule(_ key: Key, at deadline: MonotonicInstant) {
        cancel(key)
        let due = floorDivide(deadline.nanoseconds, tick)
        // Moving the cursor back is harmless: it only says where the next inspection starts.
        cursor = positions.isEmpty ? due : min(cursor, due)
        insert(Entry(key: key, deadline: deadline.nanoseconds), inSlot: slot(of: due))
    }

    /// Removes the key's deadline, if it has one.
    @inlinable public mutating func cancel(_ key: Key) {
        guard let position = positions.removeValue(forKey: key) else { return }
        remove(slot: Int(position.slot), index: Int(position.index))
    }

    @inlinable public func contains(_ key: Key) -> Bool { positions[key] != nil }

    /// Removes and returns every key whose deadline is not after `now`, in no particular order.
    ///
    /// Exact to the nanosecond: a key with a later deadline stays.
    @inlinable public mutating func expire(upTo now: MonotonicInstant) -> [Key] {
        guard !positions.isEmpty else { return [] }
        let last = floorDivide(now.nanoseconds, tick)
        guard last >= cursor else { return [] }
        var expired: [Key] = []
        let steps = min(last - cursor, Int64(mask))
        var current = last - steps
        while current <= last {
            let slot = slot(of: current)
            var index = 0
            while index < slots[slot].count {
                let entry = slots[slot][index]
                if entry.deadline <= now.nanoseconds {
                    positions.removeValue(forKey: entry.key)
                    remove(slot: slot, index: index)
                    expired.append(entry.key)
                } else {
                    index += 1
                }
            }
            current += 1
        }
        cursor = last
        return expired
    }

    /// The earliest deadline, nil if there is none. Set the timer that drives this wheel to it.
    @inlinable public var nextDeadline: MonotonicInstant? {
        guard !positions.isEmpty else { return nil }
        var later = Int64.max
        for step in 0...Int64(mask) {
            let current = cursor &+ step
            var earliest = Int64.max
            for entry in slots[slot(of: current)] {
                if floorDivide(entry.deadline, tick) <= current {
                    earliest = min(earliest, entry.deadline)
                } else {
                    later = min(later, entry.deadline)
                }
            }
            if earliest != .max { return MonotonicInstant(nanoseconds: earliest) }
        }
        return MonotonicInstant(nanoseconds: later)
    }

    @inlinable func slot(of tick: Int64) -> Int { Int(truncatingIfNeeded: tick) & mask }

    @inlinable mutating func insert(_ entry: Entry, inSlot slot: Int) {
        positions[entry.key] = Position(slot: Int32(slot), index: Int32(slots[slot].count))
        slots[slot].append(entry)
    }

    /// Fills the gap with the slot's last entry, so that removal takes constant time.
    @inlinable mutating func remove(slot: Int, index: Int) {
        guard let last = slots[slot].popLast() else { return }
        guard index < slots[slot].count else { return }
        slots[slot][index] = last
        positions[last.key]?.index = Int32(index)
    }
}

extension TimingWheel.Entry: Sendable where Key: Sendable {}
extension TimingWheel: Sendable where Key: Sendable {}

@inlinable func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
    let quotient = value / divisor
    return value % divisor < 0 ? quotient - 1 : quotient
}
