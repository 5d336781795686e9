import CLibwebsockets
import EventLoop

/// A response whose body its handler writes piece by piece, such as server-sent events. Confined to the loop.
///
/// The connection is not used for another request: the response says so, pipelined requests are discarded, and the
/// connection closes when the stream has ended. Without bytes to send a stream stays open, with no time limit of the
/// transport's; but libwebsockets closes a connection that keeps its header place for 7 minutes, so end a stream before.
/// Each open stream keeps one of the loop's header places, and is never displaced: bound their number.
public final class HTTPStream {
    /// The most that is written in one go before other sockets are served, in bytes.
    private static let batchByteCount = 262_144

    /// Called each time that everything written has been passed to the socket, at the end of a turn or later.
    public var onDrain: (() -> Void)?
    /// Called once, when the stream has ended: the client has gone or takes nothing, the server stops, or everything is
    /// sent after ``end()``. Never called within ``HTTPExchange/beginStream(_:)``, ``write(_:)`` or ``end()``.
    public var onEnd: (() -> Void)?
    /// Whether what is written is sent. A response to HEAD is never open.
    public private(set) var isOpen: Bool
    /// The bytes that the socket has not accepted yet, the response's head and the marks between chunks included. There is
    /// no limit: a handler stops writing at a limit of its own, and goes on at ``onDrain``. A client that takes none of
    /// them for ``TransportServer/Options/responseTimeout`` is cut.
    public var waitingByteCount: Int { output.waitingByteCount }

    private weak var connection: HTTPConnection?
    private var output: StreamOutput
    private var hasReportedEnd = false
    /// Whether the next flush is at the end of the turn, and not when the socket accepts bytes again.
    private(set) var awaitsFlush = true
    /// Whether the last flush has sent everything that waited, and the handler does not know yet.
    private var hasDrained = false
    private var isReportingDrain = false
    /// A second descriptor, since libuv watches each for one owner only. The library has its own, and is paused.
    private var descriptor: Int32 = -1
    private var poll: PollHandle?

    /// A stream that has ended.
    init() {
        isOpen = false
        output = StreamOutput(head: [], framing: .none)
    }

    init(of connection: HTTPConnection, _ head: HTTPResponse, _ framing: StreamFraming) {
        self.connection = connection
        isOpen = framing != .none
        output = StreamOutput(head: head.streamHead(framing), framing: framing)
    }

    deinit { stopWatching() }

    /// Sends the bytes, as a chunk of their own, at the end of this turn and as fast as the client reads. Does nothing
    /// after the end.
    public func write(_ bytes: [UInt8]) {
        guard isOpen, !bytes.isEmpty else { return }
        let isIdle = output.waitingByteCount == 0 && !awaitsFlush
        output.append(bytes)
        guard isIdle else { return }
        if isReportingDrain {
            // In a later turn: others must be served between the batches of a handler that always has more.
            poll?.watch([.readable, .writable])
        } else {
            awaitsFlush = true
            connection?.flushAtTurnEnd()
        }
    }

    /// Ends the response after what waits, and closes the connection. Does nothing after the end.
    public func end() {
        guard isOpen else { return }
        isOpen = false
        connection?.streamEnded()
    }

    // MARK: Called by the connection

    func finish() {
        isOpen = false
        output.finish()
        awaitsFlush = true
    }

    /// Sends what waits, as far as the socket accepts it, and watches the socket. Call it outside of the library's
    /// callbacks.
    func flush(to wsi: OpaquePointer, on loop: EventLoop) -> HTTPLifecycle<HTTPExchange>.Event {
        awaitsFlush = false
        hasDrained = false
        if poll == nil {
            // The library's timeout for the request's body, which it starts without one, too, would close the connection.
            lws_set_timeout(wsi, NO_PENDING_TIMEOUT, 0)
            guard startWatching(wsi, loop) else { return .writeFailed }
        }
        var sentByteCount = 0
        while output.waitingByteCount > 0, sentByteCount < Self.batchByteCount {
            let limit = min(LWSContext.transmitByteCount, Self.batchByteCount - sentByteCount)
            let count = output.writeNext(limit: limit) { SignalingTransport.write($0, inPlaceOf: wsi) }
            guard count >= 0 else { return .writeFailed }
            if count == 0 { break }
            sentByteCount += count
        }
        let isDrained = output.waitingByteCount == 0
        poll?.watch(isDrained ? .readable : [.readable, .writable])
        hasDrained = isDrained && sentByteCount > 0
        return isDrained ? .streamDrained : .streamDelayed(hasSent: sentByteCount > 0)
    }

    /// - Returns: whether bytes wait for the socket now, which may not accept more although it took all before.
    func reportDrain() -> Bool {
        guard hasDrained, isOpen else { return false }
        hasDrained = false
        isReportingDrain = true
        onDrain?()
        isReportingDrain = false
        return output.waitingByteCount > 0
    }

    func reportEnd() {
        isOpen = false
        guard !hasReportedEnd else { return }
        hasReportedEnd = true
        let action = onEnd
        // Handlers refer to their stream in these.
        onDrain = nil
        onEnd = nil
        action?()
    }

    func close() {
        stopWatching()
        output = StreamOutput(head: [], framing: .none)
        reportEnd()
    }

    private func startWatching(_ wsi: OpaquePointer, _ loop: EventLoop) -> Bool {
        descriptor = signalbox_occupy(lws_get_socket_fd(wsi), 0)
        guard descriptor >= 0 else { return false }
        poll = try? PollHandle(on: loop, descriptor: descriptor) { [unowned self] in polled($0) }
        return poll != nil
    }

    private func stopWatching() {
        poll?.close()
        poll = nil
        if descriptor >= 0 { signalbox_close(descriptor) }
        descriptor = -1
    }

    private func polled(_ events: PollHandle.Events?) {
        guard let connection else { return }
        // Retained while it runs: the connection releases a stream that ends.
        withExtendedLifetime(self) {
            guard let events else { return connection.clientHungUp() }
            if events.contains(.writable) { connection.flushStream() }
            if events.contains(.readable) { connection.discardInput() }
        }
    }
}
