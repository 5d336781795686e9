import CLibwebsockets

/// Random numbers of the operating system, fetched in blocks. A connect needs seven, and a system call for each costs
/// more than everything that the numbers are for.
///
/// As secure as `SystemRandomNumberGenerator`. A number is erased when it is handed out. A class, since a copy of the
/// buffer would hand out the same secrets again. Confined to one thread.
public final class BufferedRandomness: RandomNumberGenerator {
    /// 256 bytes: the most that the system gives in one call.
    private var words = [UInt64](repeating: 0, count: 32)
    private var unusedCount = 0

    public init() {}

    public func next() -> UInt64 {
        if unusedCount == 0 {
            guard words.withUnsafeMutableBytes({ signalbox_random_bytes($0.baseAddress, $0.count) }) == 0 else {
                var system = SystemRandomNumberGenerator()
                return system.next()
            }
            unusedCount = words.count
        }
        unusedCount -= 1
        defer { words[unusedCount] = 0 }
        return words[unusedCount]
    }
}
