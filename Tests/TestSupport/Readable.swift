import SignalingProtocol

/// Bytes as the text that they encode.
public func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

extension MonotonicInstant {
    /// The moment that many seconds after the clock's zero.
    public static func seconds(_ seconds: Double) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: Int64(seconds * 1e9))
    }
}
