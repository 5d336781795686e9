import CHiredis
import SignalingRedisCore

/// Reads the replies of Redis from its bytes, as they arrive: hiredis' reader, with bounds on what it keeps.
///
/// hiredis' asynchronous connections end the process by an assertion when a reply is not the expected one. So this is all
/// that the log uses of hiredis.
final class RedisReplyReader {
    /// Redis has sent what is not its protocol, or more than the bounds permit. Nothing can be read any more.
    struct Violation: Error {
        let text: String
    }

    struct Bounds {
        /// Of an error, a status or a number. hiredis looks for their ends from their beginnings again and again.
        var lineByteCount = 1 << 20
        /// Of a string. Redis itself keeps no longer ones by default.
        var stringByteCount = 512 << 20
        /// Of a reply, with those of the arrays in it. hiredis bounds the depth of arrays to 7.
        var elementCount = 1 << 24
    }

    /// What hiredis' callbacks find, under a pointer.
    private struct Tasks {
        let defaults: redisReplyObjectFunctions
        var elementsLeft: Int
        var hasRefused = false
    }

    private let bounds: Bounds
    private let reader: UnsafeMutablePointer<redisReader>
    private let tasks: UnsafeMutablePointer<Tasks>
    private let functions: UnsafeMutablePointer<redisReplyObjectFunctions>

    init(bounds: Bounds = Bounds()) throws(Violation) {
        guard let reader = redisReaderCreate() else { throw Violation(text: "out of memory") }
        self.bounds = bounds
        self.reader = reader
        tasks = .allocate(capacity: 1)
        tasks.initialize(to: Tasks(defaults: reader.pointee.fn.pointee, elementsLeft: bounds.elementCount))
        functions = .allocate(capacity: 1)
        functions.initialize(to: reader.pointee.fn.pointee)
        functions.pointee.createArray = { task, count in
            guard let tasks = task?.pointee.privdata?.assumingMemoryBound(to: Tasks.self) else { return nil }
            guard Int(count) <= tasks.pointee.elementsLeft else {
                tasks.pointee.hasRefused = true
                return nil
            }
            tasks.pointee.elementsLeft -= Int(count)
            return tasks.pointee.defaults.createArray(task, count)
        }
        reader.pointee.fn = functions
        reader.pointee.privdata = UnsafeMutableRawPointer(tasks)
    }

    deinit {
        redisReaderFree(reader)
        functions.deallocate()
        tasks.deallocate()
    }

    func feed(_ bytes: UnsafeRawBufferPointer) throws(Violation) {
        let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
        guard redisReaderFeed(reader, start, bytes.count) == REDIS_OK else { throw violation }
    }

    /// The next whole reply; `nil` until more bytes are there.
    func next() throws(Violation) -> RedisReply? {
        var reply: UnsafeMutableRawPointer?
        guard redisReaderGetReply(reader, &reply) == REDIS_OK else { throw violation }
        guard let reply else {
            try checkBounds()
            return nil
        }
        defer { freeReplyObject(reply) }
        tasks.pointee.elementsLeft = bounds.elementCount
        guard let copy = RedisReply(copying: reply.assumingMemoryBound(to: redisReply.self)) else {
            throw Violation(text: "a value that the protocol does not have")
        }
        return copy
    }

    private func checkBounds() throws(Violation) {
        let byteCount = reader.pointee.len - reader.pointee.pos
        if byteCount > bounds.stringByteCount { throw Violation(text: "more than \(bounds.stringByteCount) bytes") }
        if byteCount > bounds.lineByteCount, !awaitsString { throw Violation(text: "a line without an end") }
    }

    /// Whether the length of a string is known, and its bytes are awaited.
    private var awaitsString: Bool {
        guard signalbox_redis_awaited_type(reader) == REDIS_REPLY_STRING, let start = reader.pointee.buf else {
            return false
        }
        let (position, end) = (reader.pointee.pos, reader.pointee.len)
        return (position..<min(position + 32, end)).contains { start[$0] == 13 }
    }

    private var violation: Violation {
        if tasks.pointee.hasRefused { return Violation(text: "more than \(bounds.elementCount) elements") }
        return Violation(
            text: withUnsafeBytes(of: reader.pointee.errstr) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            })
    }
}
