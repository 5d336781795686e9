import CHiredis
import DequeModule
import EventLoop
import SignalingCore
import SignalingRedisCore

/// One connection to Redis: hiredis' asynchronous context on a libuv loop. Confined to the loop's thread.
///
/// hiredis has an adapter for libuv. It ignores libuv's errors, so that a refused connection is never reported, and it
/// waits for another turn of the loop before it writes. This class registers its own hooks.
final class RedisConnection {
    /// Called once when the connection is lost, or cannot be made. Not called after ``close()``.
    var onLost: ((String) -> Void)?
    /// Called with a message's channel and content, on a connection that has subscribed.
    var onMessage: ((_ channel: String, _ message: UnsafeRawBufferPointer) -> Void)?
    /// Called when Redis has confirmed a subscription, or its end.
    var onSubscription: ((_ channel: String, _ isSubscribed: Bool) -> Void)?

    /// hiredis frees the context when the connection is lost; `nil` from then on.
    private var context: UnsafeMutablePointer<redisAsyncContext>?
    private var poll: PollHandle?
    private var wantedEvents: PollHandle.Events = []
    private var polledEvents: PollHandle.Events = []
    private var handlers: Deque<(RedisReply) -> Void> = []
    /// Whether a method of hiredis runs. It may neither write nor be freed then.
    private var isInside = false
    private var mustFlush = false
    private var mustClose = false
    private var isClosed = false

    /// - Parameter address: an IP address, since hiredis would block to resolve a name.
    init(address: String, port: Int, loop: EventLoop) throws(CommandLogFault) {
        guard let context = redisAsyncConnect(address, Int32(port)) else {
            throw CommandLogFault(.unreachable, "out of memory")
        }
        guard context.pointee.err == 0 else {
            let text = Self.errorText(of: context)
            redisAsyncFree(context)
            throw CommandLogFault(.unreachable, text)
        }
        do throws(EventLoopError) {
            poll = try PollHandle(on: loop, descriptor: context.pointee.c.fd) { [unowned self] in polled($0) }
        } catch {
            redisAsyncFree(context)
            throw CommandLogFault(.unreachable, "\(error)")
        }
        self.context = context
        let this = Unmanaged.passUnretained(self).toOpaque()
        context.pointee.data = this
        context.pointee.ev.data = this
        context.pointee.ev.addRead = { RedisConnection.from($0)?.want(.readable, true) }
        context.pointee.ev.delRead = { RedisConnection.from($0)?.want(.readable, false) }
        context.pointee.ev.addWrite = { RedisConnection.from($0)?.want(.writable, true) }
        context.pointee.ev.delWrite = { RedisConnection.from($0)?.want(.writable, false) }
        context.pointee.ev.cleanup = { RedisConnection.from($0)?.contextEnds() }
        redisEnableKeepAlive(&context.pointee.c)
        // hiredis reports the outcome of connecting as an event to write.
        redisAsyncSetConnectCallback(context) { _, _ in }
        redisAsyncSetDisconnectCallback(context) { _, _ in }
        want(.writable, true)
    }

    /// Keeps a write to a connection that Redis has closed from ending the process.
    static func ignoreBrokenPipes() { signalbox_redis_ignore_broken_pipes() }

    deinit { precondition(context == nil && poll == nil, "a connection to Redis was released before it was closed") }

    var isOpen: Bool { context != nil }
    /// The number of commands without a reply.
    var unansweredCount: Int { handlers.count }

    // MARK: - Sending

    /// Sends a command. The handler is not called if the connection is lost before the reply.
    ///
    /// The bytes leave at the next ``flush()``, or when the loop finds that the connection accepts them.
    func send(_ command: RedisCommand, _ handler: @escaping (RedisReply) -> Void) {
        guard let context else { return }
        handlers.append(handler)
        command.terminatedBytes.withUnsafeBytes { bytes in
            _ = redisAsyncFormattedCommand(
                context, { context, reply, _ in RedisConnection.received(reply, on: context) }, nil,
                bytes.baseAddress?.assumingMemoryBound(to: CChar.self), command.byteCount)
        }
    }

    /// Sends SUBSCRIBE or UNSUBSCRIBE. Replies and messages come to ``onSubscription`` and ``onMessage``.
    func sendSubscription(_ command: RedisCommand) {
        guard let context else { return }
        command.terminatedBytes.withUnsafeBytes { bytes in
            _ = redisAsyncFormattedCommand(
                context, { context, reply, _ in RedisConnection.receivedMessage(reply, on: context) }, nil,
                bytes.baseAddress?.assumingMemoryBound(to: CChar.self), command.byteCount)
        }
    }

    /// Writes as much as the connection accepts now.
    func flush() {
        if isInside {
            mustFlush = true
            return
        }
        guard let context, wantedEvents.contains(.writable) else { return }
        run { redisAsyncHandleWrite(context) }
    }

    /// Closes the connection. Nothing is reported afterwards.
    func close() {
        isClosed = true
        onLost = nil
        onMessage = nil
        onSubscription = nil
        handlers = []
        if isInside {
            mustClose = true
        } else if let context {
            redisAsyncFree(context)
        }
    }

    // MARK: - Events

    private func polled(_ found: PollHandle.Events?) {
        // libuv has stopped the handle after an error. hiredis finds the error when it uses the socket.
        if found == nil { polledEvents = [] }
        guard let context else { return }
        let events = found ?? wantedEvents
        run {
            if events.contains(.readable) { redisAsyncHandleRead(context) }
            // The first call may have freed the context.
            if self.context != nil, events.contains(.writable) { redisAsyncHandleWrite(context) }
        }
    }

    /// Runs a method of hiredis, and afterwards what it caused.
    private func run(_ body: () -> Void) {
        withExtendedLifetime(self) {
            isInside = true
            body()
            if mustFlush, !mustClose, let context { redisAsyncHandleWrite(context) }
            mustFlush = false
            isInside = false
            if mustClose {
                mustClose = false
                if let context { redisAsyncFree(context) }
            }
            updatePoll()
            if context == nil, !isClosed {
                isClosed = true
                handlers = []
                let onLost = onLost
                self.onLost = nil
                onLost?(lostText)
            }
        }
    }

    private var lostText = "the connection was closed"

    private func want(_ event: PollHandle.Events, _ isWanted: Bool) {
        if isWanted { wantedEvents.insert(event) } else { wantedEvents.remove(event) }
        if !isInside { updatePoll() }
    }

    private func updatePoll() {
        guard let poll, wantedEvents != polledEvents else { return }
        polledEvents = wantedEvents
        if wantedEvents.isEmpty { poll.stop() } else { poll.watch(wantedEvents) }
    }

    /// hiredis is about to close the socket and to free the context.
    private func contextEnds() {
        if let context, context.pointee.c.err != 0 { lostText = Self.errorText(of: context) }
        context = nil
        poll?.close()
        poll = nil
    }

    // MARK: - C callbacks

    private static func from(_ data: UnsafeMutableRawPointer?) -> RedisConnection? {
        data.map { Unmanaged<RedisConnection>.fromOpaque($0).takeUnretainedValue() }
    }

    private static func received(
        _ reply: UnsafeMutableRawPointer?, on context: UnsafeMutablePointer<redisAsyncContext>?
    ) {
        // Without a reply, the connection is lost.
        guard let connection = from(context?.pointee.data), let reply, !connection.isClosed,
            let handler = connection.handlers.popFirst()
        else { return }
        handler(RedisReply(copying: reply.assumingMemoryBound(to: redisReply.self)))
    }

    private static func receivedMessage(
        _ reply: UnsafeMutableRawPointer?, on context: UnsafeMutablePointer<redisAsyncContext>?
    ) {
        guard let connection = from(context?.pointee.data), let reply, !connection.isClosed else { return }
        let message = reply.assumingMemoryBound(to: redisReply.self).pointee
        guard message.type == REDIS_REPLY_ARRAY, message.elements == 3, let kind = bytes(message.element?[0]),
            let channelBytes = bytes(message.element?[1])
        else { return }
        let channel = String(decoding: channelBytes, as: UTF8.self)
        if kind.elementsEqual("message".utf8) {
            if let content = bytes(message.element?[2]) { connection.onMessage?(channel, content) }
        } else {
            connection.onSubscription?(channel, kind.elementsEqual("subscribe".utf8))
        }
    }

    private static func bytes(_ reply: UnsafeMutablePointer<redisReply>?) -> UnsafeRawBufferPointer? {
        guard let reply, let text = reply.pointee.str else { return nil }
        return UnsafeRawBufferPointer(start: text, count: reply.pointee.len)
    }

    private static func errorText(of context: UnsafeMutablePointer<redisAsyncContext>) -> String {
        withUnsafeBytes(of: context.pointee.c.errstr) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}
