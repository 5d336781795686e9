import Foundation
import Logging
import SignalingServer
import Testing

@Suite("The log's queue and its writer", .timeLimit(.minutes(5)))
struct LogWriterTests {
    private func text(_ queue: inout LogQueue) -> String {
        String(decoding: queue.take { "dropped \($0)\n" }, as: UTF8.self)
    }

    @Test("the queue keeps lines in their order, and is empty after they are taken")
    func order() {
        var queue = LogQueue()
        #expect(queue.isEmpty)
        for line in ["a\n", "b\n"] { queue.add(line) }
        #expect(!queue.isEmpty)
        #expect(text(&queue) == "a\nb\n")
        #expect(queue.isEmpty && text(&queue).isEmpty)
    }

    @Test("a full queue drops lines, counts them, and reports them once, after the lines that it kept")
    func bounded() {
        var queue = LogQueue(byteLimit: 6)
        for line in ["one\n", "2\n", "three\n", "4\n", "5\n"] { queue.add(line) }
        #expect(text(&queue) == "one\n2\ndropped 3\n")
        queue.add("six\n")
        #expect(text(&queue) == "six\n")
    }

    @Test("a line over the bound is dropped, and lines after it, so that the log has one gap")
    func oneGap() {
        var queue = LogQueue(byteLimit: 4)
        for line in ["a\n", "long line\n", "b\n"] { queue.add(line) }
        #expect(text(&queue) == "a\ndropped 2\n")
    }

    /// A pipe whose reading end the test reads when it likes.
    private func pipe() throws -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        try #require(Foundation.pipe(&ends) == 0)
        return (ends[0], ends[1])
    }

    @Test("a reader that stalls delays no line; when it reads again, one line says how many were dropped")
    func stall() throws {
        let (reading, writing) = try pipe()
        defer { close(reading) }
        let writer = LogWriter(descriptor: writing, label: "test", byteLimit: 10_000)
        let line = String(repeating: "x", count: 99) + "\n"
        // Fill the pipe: each round fits in the queue, and is written before the next one while there is space.
        var space = pollfd(fd: writing, events: Int16(POLLOUT), revents: 0)
        var count = 0
        while count < 10_000, poll(&space, 1, 0) == 1 {
            for _ in 0..<50 { writer.add(line) }
            count += 50
            while !writer.flush(within: .milliseconds(10)), poll(&space, 1, 0) == 1 {}
        }
        #expect(count < 10_000, "the reader has read nothing")
        // More than the queue holds.
        for _ in 0..<300 { writer.add(line) }
        count += 300
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while !text.contains("dropped log lines") || !text.hasSuffix("\n") {
            let got = read(reading, &buffer, buffer.count)
            try #require(got > 0)
            text += String(decoding: buffer[..<got], as: UTF8.self)
        }
        #expect(writer.flush())
        let lines = text.split(separator: "\n")
        let notices = lines.filter { $0.contains("dropped log lines") }
        let kept = lines.count { $0 == line.dropLast() }
        #expect(notices.count == 1)
        #expect(notices[0].contains(" warning test: lines=\(count - kept) "), "\(notices)")
        close(writing)
    }

    @Test("a closed reader is no error, and a flush ends")
    func closedReader() throws {
        let (reading, writing) = try pipe()
        close(reading)
        let writer = LogWriter(descriptor: writing, label: "test")
        for _ in 0..<10 { writer.add("line\n") }
        #expect(writer.flush(within: .seconds(60)))
        close(writing)
    }

    @Test("a descriptor that does not block gets every line, too")
    func nonBlocking() throws {
        let (reading, writing) = try pipe()
        defer { close(reading) }
        _ = fcntl(writing, F_SETFL, O_NONBLOCK)
        let writer = LogWriter(descriptor: writing, label: "test", byteLimit: 200_000)
        let line = String(repeating: "y", count: 999) + "\n"
        for _ in 0..<150 { writer.add(line) }
        var total = 0
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while total < 150_000 {
            let got = read(reading, &buffer, buffer.count)
            try #require(got > 0)
            total += got
        }
        #expect(total == 150_000)
        #expect(writer.flush())
        close(writing)
    }

    @Test("a line has the time, level, label, sorted metadata, source and message; the common level can change")
    func format() throws {
        let (reading, writing) = try pipe()
        defer { close(reading) }
        let writer = LogWriter(descriptor: writing, label: "test")
        let level = LogLevel(.info)
        let logger = Logger(label: "box") { QueuedLogHandler(label: $0, writer: writer, level: level) }
        logger.debug("not written")
        level.value = .debug
        logger.debug("message", metadata: ["b": "2", "a": "1"], source: "here")
        #expect(writer.flush(within: .seconds(60)))
        var buffer = [UInt8](repeating: 0, count: 1000)
        let got = read(reading, &buffer, buffer.count)
        let text = String(decoding: buffer[..<max(0, got)], as: UTF8.self)
        let pattern = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d debug box: a=1 b=2 \[here\] message\n/
        #expect(text.wholeMatch(of: pattern) != nil, "\(text)")
        close(writing)
    }
}
