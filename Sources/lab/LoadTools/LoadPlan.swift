/// The load of a ``LoadTest``. Every number has bounds, so that a slip of the finger does not become an attack.
package struct LoadPlan: Sendable {
    /// A number with its bounds.
    package struct Setting: Sendable {
        package let name: String
        package let range: ClosedRange<Int>
        let value: Int
    }

    package static let roomsRange = 1...2_000
    package static let membersRange = 1...2_000
    package static let rateRange = 0...2_000
    package static let bytesRange = 32...8_192
    package static let secondsRange = 1...600
    package static let warmUpRange = 0...60
    package static let limitRange = 1...10_000
    /// The most members of all rooms together.
    package static let memberLimit = 20_000
    /// The most signals, and deliveries, of all rooms per second.
    package static let signalLimit = 20_000
    package static let deliveryLimit = 500_000

    package var rooms: Int
    /// In each room.
    package var members: Int
    /// Signals per second in each room, from its members in turn. 0: the members only stay connected.
    package var rate: Int
    /// The size of a signal's data.
    package var bytes: Int
    package var seconds: Int
    /// How long the load runs before the measurement begins.
    package var warmUpSeconds: Int
    /// The server has carried the load if 99 % of the deliveries took at most this time.
    package var limitMilliseconds: Int

    package init(
        rooms: Int, members: Int, rate: Int, bytes: Int, seconds: Int, warmUpSeconds: Int, limitMilliseconds: Int
    ) {
        self.rooms = rooms
        self.members = members
        self.rate = rate
        self.bytes = bytes
        self.seconds = seconds
        self.warmUpSeconds = warmUpSeconds
        self.limitMilliseconds = limitMilliseconds
    }

    /// The numbers, under their names on the command line.
    package var settings: [Setting] {
        [
            Setting(name: "--rooms", range: Self.roomsRange, value: rooms),
            Setting(name: "--members", range: Self.membersRange, value: members),
            Setting(name: "--rate", range: Self.rateRange, value: rate),
            Setting(name: "--bytes", range: Self.bytesRange, value: bytes),
            Setting(name: "--seconds", range: Self.secondsRange, value: seconds),
            Setting(name: "--warm-up", range: Self.warmUpRange, value: warmUpSeconds),
            Setting(name: "--limit", range: Self.limitRange, value: limitMilliseconds),
        ]
    }

    /// Why the plan cannot run, with the number and what is permitted; nil if it can.
    package var problem: String? {
        for setting in settings where !setting.range.contains(setting.value) {
            return "\(setting.name) is \(setting.value). Use a number from \(setting.range.lowerBound) to "
                + "\(setting.range.upperBound)."
        }
        let sums = [
            ("members", memberCount, Self.memberLimit), ("signals per second", signalRate, Self.signalLimit),
            ("deliveries per second", deliveryRate, Self.deliveryLimit),
        ]
        for (name, sum, limit) in sums where sum > limit {
            return "the rooms together have \(sum) \(name). Use smaller numbers: at most \(limit)."
        }
        return nil
    }

    package var memberCount: Int { rooms * members }
    package var signalRate: Int { rooms * rate }
    package var deliveryRate: Int { signalRate * members }

    var warmUp: Duration { .seconds(warmUpSeconds) }
    /// From the first signal to the end.
    var length: Duration { .seconds(warmUpSeconds + seconds) }
    var limit: Duration { .milliseconds(limitMilliseconds) }

    /// One signal, at its planned moment. The rooms take turns, and so do the members of a room, so that signals are
    /// evenly spaced.
    struct Step: Equatable {
        var room: Int
        var member: Int
        /// Since the start of the load.
        var at: Duration
    }

    var stepCount: Int { signalRate * (warmUpSeconds + seconds) }

    func step(_ number: Int) -> Step {
        // Not a multiple of a rounded interval: that would drift.
        let seconds = number / signalRate
        let rest = number % signalRate
        let at = Duration.seconds(seconds) + .nanoseconds(Int64(rest) * 1_000_000_000 / Int64(signalRate))
        return Step(room: number % rooms, member: number / rooms % members, at: at)
    }
}
