import SignalingCore
import SignalingProtocol

/// The numbers that the log counts: of entries, of commands, and of microseconds.
///
/// Redis' functions count in doubles, so a number above 2^53 is none of theirs. It is refused where it is read:
/// whoever adds to a number that was read cannot overflow.
enum LogNumber {
    static let largest: UInt64 = 1 << 53

    /// `nil` if the text is not a number, or the number is too large.
    static func read(_ text: some StringProtocol) -> UInt64? {
        UInt64(text).flatMap { $0 <= largest ? $0 : nil }
    }
}

extension RedisReply {
    /// A number of the log.
    var logNumber: UInt64? {
        number.flatMap { UInt64(exactly: $0) }.flatMap { $0 <= LogNumber.largest ? $0 : nil }
    }
}

extension Duration {
    /// `nil` if the text is not a number of microseconds of the log.
    init?(microseconds number: UInt64?) {
        guard let number, let microseconds = Int64(exactly: number) else { return nil }
        self = .microseconds(microseconds)
    }

    /// As the functions read it.
    var microseconds: String { String(wholeNanoseconds / 1_000) }
}

extension MonotonicInstant {
    /// The log's times are in microseconds, since Redis' functions count with 53 bits.
    init?(microseconds text: some StringProtocol) {
        guard let number = LogNumber.read(text), let microseconds = Int64(exactly: number) else { return nil }
        self.init(nanoseconds: microseconds * 1_000)
    }

    var microseconds: String { String(nanoseconds / 1_000) }
}
