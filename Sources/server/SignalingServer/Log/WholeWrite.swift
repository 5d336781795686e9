import Glibc

/// Writes all of the bytes to a file descriptor, blocking or not, and waits while its reader is slow.
package enum WholeWrite {
    /// - Returns: the value of `errno` if the descriptor fails; nil if everything is written.
    package static func write(_ bytes: some Sequence<UInt8>, to descriptor: Int32) -> Int32? {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                var writable = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&writable, 1, -1)
            case let code: return code
            }
        }
        return nil
    }
}
