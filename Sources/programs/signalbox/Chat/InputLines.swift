import Dispatch

/// The lines of standard input. Each is read on request, on a thread that may block.
///
/// Not by `readLine`: a thread that waits in it has locked the standard input of the C library, and since glibc 2.41 the
/// end of the process waits for this lock.
enum InputLines {
    static func stream() -> AsyncStream<String> {
        let lines = Lines()
        return AsyncStream {
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async { continuation.resume(returning: lines.next()) }
            }
        }
    }

    /// Unchecked: the stream asks for one line at a time.
    private final class Lines: @unchecked Sendable {
        /// A longer line is several lines.
        private static let byteCount = 1 << 20
        private var rest: [UInt8] = []
        private var hasEnded = false

        /// The next line without its end, which is LF or CR LF; `nil` at the end of the input.
        func next() -> String? {
            while true {
                if let end = rest.firstIndex(of: UInt8(ascii: "\n")) { return take(rest[..<end], dropping: end + 1) }
                if rest.count >= Self.byteCount || hasEnded && !rest.isEmpty {
                    return take(rest[...], dropping: rest.count)
                }
                if hasEnded { return nil }
                if let more = RawTerminal.readSome() { rest += more } else { hasEnded = true }
            }
        }

        private func take(_ line: ArraySlice<UInt8>, dropping count: Int) -> String {
            defer { rest.removeFirst(count) }
            return String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
        }
    }
}
