import SignalingCore
import SignalingProtocol
import SignalingTransport

/// Events from the sockets, which ``TransportDispatch`` passes on, and the input queues.
extension Hub {
    typealias Socket = Environment.Socket

    func socketOpened(_ socket: Socket) {
        let state = ConnectionState(
            openedAt: environment.now, heartbeat: limits.heartbeat, backPressure: limits.backPressure,
            inputRate: limits.inputRate)
        socket.messageByteLimit = state.messageByteLimit
        let peer = Peer(socket: socket, state: state)
        socket.attachment = peer
        peers[socket.id] = peer
        if drain == nil { setAlarm(for: peer) } else { disconnect(peer) }
    }

    /// The hub's state for a socket; nil after the socket has closed.
    ///
    /// A checked cast to a generic class looks up its metadata for each message. Only the hub sets attachments.
    private func peer(of socket: Socket) -> Peer<Socket>? {
        socket.attachment.map { unsafeDowncast($0, to: Peer<Socket>.self) }
    }

    func socket(_ socket: Socket, received message: UnsafeRawBufferPointer, frameCount: Int = 1) {
        guard let peer = peer(of: socket) else { return }
        receive(message, of: peer)
        if frameCount > 1 { handle(.receivedInFrames(frameCount), for: peer) }
    }

    private func receive(_ message: UnsafeRawBufferPointer, of peer: Peer<Socket>) {
        statistics.receivedMessages += 1
        statistics.receivedBytes += message.count
        if message.allSatisfy({ $0 == UInt8(ascii: "\n") }) { return handle(.receivedEmpty, for: peer) }
        if !peer.input.isEmpty || peer.state.isReadingPaused || engine.isSaturated {
            // Handling has stopped, but the same read had more messages.
            peer.input.append(message)
            return continueInput(of: peer)
        }
        var lines = MessageLines(message)
        handleLines(&lines, of: peer, waitingCount: peersWithInput.count)
        guard !lines.rest.isEmpty, !peer.state.isClosing else { return }
        peer.input.append(lines.rest)
        continueInput(of: peer)
    }

    func socket(_ socket: Socket, violated violation: ProtocolViolation) {
        guard let peer = peer(of: socket) else { return }
        handleAllInput(of: peer)
        handle(.mustClose(violation.closeReason), for: peer)
    }

    func socketDrained(_ socket: Socket) {
        guard let peer = peer(of: socket) else { return }
        peer.isBacklogged = false
        serve(peer)
    }

    func socketClosed(_ socket: Socket, code: UInt16?) {
        guard let peer = peer(of: socket) else { return }
        socket.attachment = nil
        handleAllInput(of: peer)
        handle(.socketClosed(code: code), for: peer)
        leaveRoom(peer)
        if !statistics.ackSampler.isIdle { statistics.ackSampler.closed(origin: socket.id) }
        peers[socket.id] = nil
        noteSocketClosed()
    }

    // MARK: - The input queue

    /// Handles lines up to the peer's allowance for this turn.
    private func handleLines(_ lines: inout MessageLines, of peer: Peer<Socket>, waitingCount: Int) {
        if peer.lineAllowance.turn != turn {
            peer.lineAllowance = (turn, lineShare.allowance(in: turn, waitingCount: waitingCount))
        }
        while peer.lineAllowance.count > 0, !peer.state.isReadingPaused, !peer.state.isClosing,
            let line = lines.next()
        {
            peer.lineAllowance.count -= 1
            lineShare.noteHandled()
            handleLine(line, of: peer)
        }
    }

    private func handleLine(_ line: UnsafeRawBufferPointer, of peer: Peer<Socket>) {
        lineTime = environment.now
        linePeer = peer
        defer {
            lineTime = nil
            linePeer = nil
        }
        do {
            handle(.received(try ClientMessage(line: line, parser: &parser), byteCount: line.count), for: peer)
        } catch {
            statistics.malformedLines += 1
            handle(.receivedMalformed(error, byteCount: line.count), for: peer)
        }
    }

    /// Queued lines wait for the next turn, or for `resumeReading` if reading is paused.
    func continueInput(of peer: Peer<Socket>) {
        updateReading(of: peer)
        guard !peer.input.isEmpty, !peer.input.isListed, !peer.state.isReadingPaused else { return }
        peer.input.isListed = true
        peersWithInput.append(peer)
    }

    func handleQueuedInput() {
        if engine.isSaturated { return }
        let candidates = peersWithInput
        peersWithInput = []
        for peer in candidates {
            peer.input.isListed = false
            if peer.state.isClosing { continue }
            // Moved out meanwhile, since handling a line may access `peer.input`.
            var input = peer.input
            peer.input = InputQueue()
            input.consume { lines in handleLines(&lines, of: peer, waitingCount: candidates.count) }
            peer.input = input
            continueInput(of: peer)
        }
    }

    /// Handles the queue of a socket that receives nothing more: its violation or its end came after these lines. Those
    /// over the client's rate are dropped (WIRE-15), or each reconnect would carry out a queue of lines at once.
    private func handleAllInput(of peer: Peer<Socket>) {
        var input = peer.input
        peer.input = InputQueue()
        input.consume { lines in
            while !peer.state.isClosing, !peer.state.isOverLineRate, let line = lines.next() {
                handleLine(line, of: peer)
            }
        }
    }

    func updateReading(of peer: Peer<Socket>) {
        peer.socket.isReading = peer.input.isEmpty && !peer.state.isReadingPaused
    }
}

extension ProtocolViolation {
    /// The close code of RFC 6455, section 7.4.1.
    var closeReason: CloseReason {
        switch self {
        case .binaryMessage: .unsupportedData
        case .messageTooBig, .tooManyFragments: .messageTooBig
        case .invalidUTF8: .invalidPayload
        }
    }
}
