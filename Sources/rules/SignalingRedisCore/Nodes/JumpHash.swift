import SignalingProtocol

/// Spreads sessions over several Redis (Lamping and Veach, "A fast, minimal memory, consistent hash algorithm", 2014). A
/// further Redis gets its share, and moves no other session.
package enum JumpHash {
    package static func bucket(of session: SessionID, count: Int) -> Int {
        guard count > 1 else { return 0 }
        var key = fnv1a(session.rawValue)
        var bucket: Int64 = -1
        var next: Int64 = 0
        while next < count {
            bucket = next
            key = key &* 2_862_933_555_777_941_757 &+ 1
            next = Int64(Double(bucket + 1) * (Double(1 << 31) / Double((key >> 33) + 1)))
        }
        return Int(bucket)
    }

    /// A hash that is the same in every process, unlike Swift's.
    static func fnv1a(_ text: String) -> UInt64 {
        text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
