/// The log lines that wait for the writer's thread. Bounded: a line that does not fit is dropped and counted.
package struct LogQueue {
    /// The default bound in bytes: about 2000 lines.
    package static let byteLimit = 262_144

    private let byteLimit: Int
    private var bytes: [UInt8] = []
    /// The lines that were dropped since the last ``take(notice:)``.
    private var droppedCount = 0

    package init(byteLimit: Int = Self.byteLimit) { self.byteLimit = byteLimit }

    package var isEmpty: Bool { bytes.isEmpty && droppedCount == 0 }

    /// Adds a line with its line end, or drops it. After a dropped line, all further ones are dropped until the queue is
    /// taken: the log has one gap, and the notice stands in it.
    package mutating func add(_ line: String) {
        guard droppedCount == 0, bytes.count + line.utf8.count <= byteLimit else {
            droppedCount += 1
            return
        }
        bytes.append(contentsOf: line.utf8)
    }

    /// Removes and returns all bytes.
    ///
    /// - Parameter notice: makes the line that reports how many lines were dropped after those bytes.
    package mutating func take(notice: (Int) -> String) -> [UInt8] {
        defer {
            bytes = []
            droppedCount = 0
        }
        return droppedCount == 0 ? bytes : bytes + Array(notice(droppedCount).utf8)
    }
}
