/// Files in the form of the program `tar` (POSIX.1-1988, "ustar"): in blocks of 512 bytes, a head and then the content.
package struct TarArchive: Sendable {
    private static let blockByteCount = 512

    let files: [(name: String, bytes: [UInt8])]

    /// - Parameter bytes: the archive. What follows a block that is no head of a file, or a file that is cut off, is
    ///   ignored.
    package init(_ bytes: UnsafeRawBufferPointer) {
        var files: [(name: String, bytes: [UInt8])] = []
        var rest = bytes[...]
        while rest.count >= Self.blockByteCount {
            let head = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.blockByteCount))
            func text(at place: Range<Int>) -> String {
                String(decoding: head[place].prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let count = Int(text(at: 124..<135), radix: 8), count >= 0 else { break }
            let content = rest.dropFirst(Self.blockByteCount)
            guard content.count >= count else { break }
            let prefix = text(at: 345..<500)
            let name = (prefix.isEmpty ? "" : prefix + "/") + text(at: 0..<100)
            files.append((name, Array(content.prefix(count))))
            rest = content.dropFirst((count + Self.blockByteCount - 1) / Self.blockByteCount * Self.blockByteCount)
        }
        self.files = files
    }
}
