import SignalingProtocol

/// The text that the bytes encode in UTF-8.
public func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

extension MonotonicInstant {
    /// The moment this many seconds after the clock's zero point.
    public static func seconds(_ seconds: Double) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: Int64(seconds * 1e9))
    }
}
