/// The life cycle of one WebSocket, the same for a server's and a client's socket.
///
/// A pure state machine: it names no C type and reads no clock. Its owner reports each event to ``handle(_:)`` and
/// performs the effects in their order. Two questions on the hot path, ``writeRefusal`` and ``inputDisposition``, are
/// answered without an event, so that an ordinary write or message costs a comparison and no allocation.
///
/// `Frame` is the type of a farewell; the machine only keeps it until it is due.
struct WebSocketLifecycle<Frame> {
    enum Role {
        /// Accepted by a server. It starts in `opening`; closing it before it is open does nothing.
        case server
        /// Made by a client. It starts in `starting`; closing it before it is open, or after a close frame, cuts it.
        case client
    }

    enum State {
        /// Client only: the call that starts to connect is running, and must report nothing. `hasFailed`: the library
        /// has reported a failure during that call. Next: `opening`, `terminating`.
        case starting(hasFailed: Bool)
        /// The handshake is not complete. Next: `open`, `terminating`, `closed`.
        case opening
        /// Nothing is buffered: a frame can be written. Next: `backlogged`, `closeScheduled`, `libraryClosing`,
        /// `peerClosing`, `terminating`, `closed`.
        case open
        /// The rest of a frame is buffered. Next: `open`, `closingAfterBacklog`, `libraryClosing`, `peerClosing`,
        /// `terminating`, `closed`.
        case backlogged
        /// This side closes, but the library would drop a close frame as long as it buffers the rest of a frame. Next:
        /// `closeScheduled`, `libraryClosing`, `peerClosing`, `terminating`, `closed`.
        case closingAfterBacklog(CloseRequest)
        /// The close frame is sent when this turn of the loop ends. Next: `closeSent`, `closingAfterBacklog` (the
        /// farewell was buffered), `peerClosing`, `terminating`, `closed`.
        case closeScheduled(CloseRequest)
        /// The library closes, and sends its close frame after this turn of the loop. Until then a frame can be
        /// written. Next: `closeSent`, `terminating`, `closed`.
        case libraryClosing
        /// The close frame is sent, by this side or by the library; the peer's answer is awaited. Next: `terminating`,
        /// `closed`.
        case closeSent
        /// The peer has sent a close frame first; the library answers it. Next: `terminating`, `closed`.
        case peerClosing(PeerClose)
        /// The connection is cut when this turn of the loop ends. `recordsPeerClose`: a close frame of the peer that
        /// arrives before the cut still counts. Next: `closed`.
        case terminating(Outcome, recordsPeerClose: Bool)
        /// The connection has ended, and its owner has received the report. The last state.
        case closed
    }

    /// The contents of this side's close frame.
    struct CloseRequest {
        var code: UInt16
        var reason: String
        /// Sent before the close frame, after what is buffered.
        var farewell: Frame?
    }

    /// The contents of the peer's close frame.
    struct PeerClose: Equatable {
        var code: UInt16
        var reason = ""
    }

    /// The end of the socket, for its owner.
    enum Outcome: Equatable {
        /// It never opened.
        case failed(isTimeout: Bool)
        /// It was open. `by` is the peer's close frame if that came first.
        case closed(by: PeerClose?)
    }

    enum Event {
        /// Client only: the call that starts to connect has returned.
        case connectReturned(hasConnection: Bool)
        case handshakeCompleted
        /// Client only: the library could not connect, or the server refused.
        case connectFailed
        /// Server only: input came in the same read as the handshake request.
        case inputArrivedWithHandshake
        /// The library buffers the rest of the frame that was just written.
        case frameBuffered
        case writeFailed
        /// The library closes the connection: the peer's frames break RFC 6455, or the connection is lost.
        case libraryCloses
        /// The socket accepts bytes and the library buffers none. May come unasked.
        case drained
        case closeRequested(CloseRequest)
        case terminateRequested
        case deadlinePassed
        /// `isRefused`: the frame breaks RFC 6455, and the library is given another answer than its echo.
        case peerCloseReceived(PeerClose, isRefused: Bool = false)
        /// None of the library's callbacks runs: connections can be closed now.
        case turnEnded
        /// The library has closed the connection. May come more than once.
        case connectionEnded
    }

    enum Effect {
        case reportOpened
        case reportDrained
        /// The last report.
        case reportEnd(Outcome)
        /// Resume reading if it is paused, to receive the peer's answer to the close frame.
        case applyReading
        case startCloseDeadline
        /// The same for a peer that breaks RFC 6455: the library may misread its answer.
        case startViolationDeadline
        case cancelDeadline
        /// Call back with `turnEnded` when this turn of the loop ends.
        case closeAtTurnEnd
        /// The same after the handlers have flushed: they write at the end of a turn what they answer in it.
        case endTurnAfterFlush
        /// Write the frame; report `frameBuffered` or `writeFailed` if that happens.
        case write(Frame)
        case sendClose(code: UInt16, reason: String)
        /// End the connection at once, without a close frame.
        case cut
    }

    enum InputDisposition {
        case deliver
        /// A close has begun: input is read and discarded.
        case drop
        /// Have the library close the connection.
        case hangUp
    }

    private let role: Role
    private(set) var state: State

    init(role: Role) {
        self.role = role
        switch role {
        case .server: state = .opening
        case .client: state = .starting(hasFailed: false)
        }
    }

    // MARK: Questions

    /// Why a frame cannot be written; nil if it can.
    @inline(__always) var writeRefusal: WriteOutcome? {
        switch state {
        case .open, .libraryClosing: nil
        case .backlogged: .refused
        case .starting, .opening, .closingAfterBacklog, .closeScheduled, .closeSent, .peerClosing, .terminating,
            .closed:
            .closed
        }
    }

    /// How to treat input.
    @inline(__always) var inputDisposition: InputDisposition {
        switch state {
        case .open, .backlogged: .deliver
        case .starting, .opening, .closingAfterBacklog, .closeScheduled, .libraryClosing, .closeSent, .peerClosing:
            .drop
        case .terminating, .closed: .hangUp
        }
    }

    /// Whether the handshake is complete and no close frame was sent or received.
    var isOpen: Bool {
        switch state {
        case .open, .backlogged, .closingAfterBacklog, .closeScheduled, .libraryClosing: true
        case .starting, .opening, .closeSent, .peerClosing, .terminating, .closed: false
        }
    }

    /// Whether the library buffers the rest of a frame of an open socket.
    var isBacklogged: Bool {
        switch state {
        case .backlogged, .closingAfterBacklog: true
        case .starting, .opening, .open, .closeScheduled, .libraryClosing, .closeSent, .peerClosing, .terminating,
            .closed:
            false
        }
    }

    /// Whether the library's callback for this connection must return -1.
    @inline(__always) var mustHangUp: Bool {
        switch state {
        case .terminating, .closed: true
        case .starting, .opening, .open, .backlogged, .closingAfterBacklog, .closeScheduled, .libraryClosing,
            .closeSent, .peerClosing:
            false
        }
    }

    /// Whether to read from the connection, given the handler's setting; nil changes nothing.
    func reads(ifHandlerReads handlerReads: Bool) -> Bool? {
        switch state {
        case .open, .backlogged: handlerReads
        case .closingAfterBacklog, .closeScheduled: true
        case .starting, .opening, .libraryClosing, .closeSent, .peerClosing, .terminating, .closed: nil
        }
    }

    // MARK: Events

    mutating func handle(_ event: Event) -> [Effect] {
        switch event {
        case .connectReturned(let hasConnection): connectReturned(hasConnection)
        case .handshakeCompleted: handshakeCompleted()
        case .connectFailed: connectFailed()
        case .frameBuffered: frameBuffered()
        case .libraryCloses: libraryCloses()
        case .drained: drained()
        case .closeRequested(let request): closeRequested(request)
        case .inputArrivedWithHandshake, .writeFailed, .terminateRequested: terminate(isTimeout: false)
        case .deadlinePassed: terminate(isTimeout: true)
        case .peerCloseReceived(let close, let isRefused): peerCloseReceived(close, isRefused)
        case .turnEnded: turnEnded()
        case .connectionEnded: connectionEnded()
        }
    }

    private mutating func connectReturned(_ hasConnection: Bool) -> [Effect] {
        switch state {
        case .starting(let hasFailed):
            if hasFailed || !hasConnection { return terminate(isTimeout: false) }
            state = .opening
            return []
        case .opening, .open, .backlogged, .closingAfterBacklog, .closeScheduled, .libraryClosing, .closeSent,
            .peerClosing,
            .terminating, .closed:
            return []
        }
    }

    private mutating func handshakeCompleted() -> [Effect] {
        switch state {
        case .opening:
            state = .open
            return [.cancelDeadline, .reportOpened]
        case .starting, .open, .backlogged, .closingAfterBacklog, .closeScheduled, .libraryClosing, .closeSent,
            .peerClosing,
            .terminating, .closed:
            return []
        }
    }

    private mutating func connectFailed() -> [Effect] {
        switch state {
        case .starting:
            state = .starting(hasFailed: true)
            return []
        case .opening: return end(.failed(isTimeout: false))
        case .terminating(.failed(let isTimeout), _): return end(.failed(isTimeout: isTimeout))
        case .open, .backlogged, .closingAfterBacklog, .closeScheduled, .libraryClosing, .closeSent, .peerClosing,
            .terminating(.closed, _), .closed:
            return []
        }
    }

    private mutating func frameBuffered() -> [Effect] {
        switch state {
        case .open: state = .backlogged
        case .closeScheduled(let request): state = .closingAfterBacklog(request)
        case .starting, .opening, .backlogged, .closingAfterBacklog, .libraryClosing, .closeSent, .peerClosing,
            .terminating,
            .closed:
            break
        }
        return []
    }

    private mutating func libraryCloses() -> [Effect] {
        switch state {
        case .open, .backlogged:
            state = .libraryClosing
            return [.startViolationDeadline, .endTurnAfterFlush]
        case .closingAfterBacklog, .closeScheduled:
            state = .closeSent
            return [.startViolationDeadline]
        case .starting, .opening, .libraryClosing, .closeSent, .peerClosing, .terminating, .closed: return []
        }
    }

    private mutating func drained() -> [Effect] {
        switch state {
        case .backlogged:
            state = .open
            return [.reportDrained]
        case .closingAfterBacklog(var request):
            guard let farewell = request.farewell else {
                state = .closeScheduled(request)
                return [.closeAtTurnEnd]
            }
            request.farewell = nil
            state = .closeScheduled(request)
            // The peer reads: it gets the whole time for the farewell.
            return [.startCloseDeadline, .write(farewell), .closeAtTurnEnd]
        case .starting, .opening, .open, .closeScheduled, .libraryClosing, .closeSent, .peerClosing, .terminating,
            .closed:
            return []
        }
    }

    private mutating func closeRequested(_ request: CloseRequest) -> [Effect] {
        switch state {
        case .open:
            // Nothing is buffered, so the owner has written everything that goes before the close frame.
            state = .closeScheduled(CloseRequest(code: request.code, reason: request.reason))
            return [.applyReading, .startCloseDeadline, .closeAtTurnEnd]
        case .backlogged:
            state = .closingAfterBacklog(request)
            return [.applyReading, .startCloseDeadline]
        case .starting, .opening, .closeSent, .peerClosing:
            switch role {
            case .server: return []
            case .client: return terminate(isTimeout: false)
            }
        case .closingAfterBacklog, .closeScheduled, .libraryClosing, .terminating, .closed: return []
        }
    }

    private mutating func terminate(isTimeout: Bool) -> [Effect] {
        switch state {
        case .starting, .opening: state = .terminating(.failed(isTimeout: isTimeout), recordsPeerClose: false)
        case .open, .backlogged, .closingAfterBacklog, .closeScheduled:
            // A peer that sends a close frame and then leaves makes a write fail first; its close frame is read in the
            // same turn.
            state = .terminating(.closed(by: nil), recordsPeerClose: true)
        case .libraryClosing, .closeSent: state = .terminating(.closed(by: nil), recordsPeerClose: false)
        case .peerClosing(let close): state = .terminating(.closed(by: close), recordsPeerClose: false)
        case .terminating, .closed: return []
        }
        return [.closeAtTurnEnd]
    }

    private mutating func peerCloseReceived(_ close: PeerClose, _ isRefused: Bool) -> [Effect] {
        switch state {
        case .open, .backlogged, .closingAfterBacklog, .closeScheduled:
            state = .peerClosing(close)
            return [isRefused ? .startViolationDeadline : .startCloseDeadline]
        case .terminating(_, recordsPeerClose: true):
            state = .terminating(.closed(by: close), recordsPeerClose: false)
            return []
        // In `closeSent` it is the answer to this side's close frame.
        case .starting, .opening, .libraryClosing, .closeSent, .peerClosing, .terminating(_, recordsPeerClose: false),
            .closed:
            return []
        }
    }

    private mutating func turnEnded() -> [Effect] {
        switch state {
        case .closeScheduled(let request):
            state = .closeSent
            return [.sendClose(code: request.code, reason: request.reason)]
        case .libraryClosing:
            state = .closeSent
            return []
        case .terminating: return [.cut]
        case .starting, .opening, .open, .backlogged, .closingAfterBacklog, .closeSent, .peerClosing, .closed: return []
        }
    }

    private mutating func connectionEnded() -> [Effect] {
        switch state {
        case .starting:
            // Reported after the call has returned.
            state = .starting(hasFailed: true)
            return []
        case .opening: return end(.failed(isTimeout: false))
        case .open, .backlogged, .closingAfterBacklog, .closeScheduled, .libraryClosing, .closeSent:
            return end(.closed(by: nil))
        case .peerClosing(let close): return end(.closed(by: close))
        case .terminating(let outcome, _): return end(outcome)
        case .closed: return []
        }
    }

    private mutating func end(_ outcome: Outcome) -> [Effect] {
        state = .closed
        return [.cancelDeadline, .reportEnd(outcome)]
    }
}

extension WebSocketLifecycle.CloseRequest: Equatable where Frame: Equatable {}
extension WebSocketLifecycle.State: Equatable where Frame: Equatable {}
extension WebSocketLifecycle.Effect: Equatable where Frame: Equatable {}
