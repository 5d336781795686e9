import SignalingCore
import SignalingProtocol
import SignalingTransport

/// Writes the unsent lines of peers, joined into text messages. Confined to the loop.
///
/// The writer writes to a socket until it is backlogged, skips it until it has drained, and then continues from its
/// cursor. So a slow client does not delay the others (G5).
final class SocketWriter<Socket: HubSocket> {
    private let engine: any SessionEngine
    private let limits: HubLimits
    private let statistics: HubStatistics
    /// The frame for a single peer.
    private let ownFrame = OutboundFrame(reservingByteCount: FlushScheduler.byteLimit)
    /// The frames for all up-to-date peers of a flush, by their form.
    private let sharedFrame = OutboundFrame(reservingByteCount: FlushScheduler.byteLimit)
    private let sharedFrameWithoutPresence = OutboundFrame(reservingByteCount: FlushScheduler.byteLimit)
    private let sharedFrameWithAbsences = OutboundFrame(reservingByteCount: FlushScheduler.byteLimit)
    @exclusivity(unchecked) private var scratch: [UInt8] = []

    init(engine: any SessionEngine, limits: HubLimits, statistics: HubStatistics) {
        self.engine = engine
        self.statistics = statistics
        self.limits = limits
    }

    /// Brings every member of a room to the end of its log. Members that are up to date get the same bytes.
    ///
    /// - Returns: the overrun peers. The caller has to close them (G4).
    func flush(_ room: Room<Socket>, now: MonotonicInstant) -> [Peer<Socket>] {
        var overrun: [Peer<Socket>] = []
        if let log = room.log(in: engine) { write(log, to: room, now, &overrun) }
        room.pendingOnlineOnly.removeAll()
        room.flushScheduler.noteFlushed(at: now)
        return overrun
    }

    private func write(
        _ log: borrowing SessionLog, to room: Room<Socket>, _ now: MonotonicInstant, _ overrun: inout [Peer<Socket>]
    ) {
        let onlineOnly = room.pendingOnlineOnly.signals
        var batch = SharedBatch(
            log: log, after: room.flushedThrough, absences: room.flushedAbsences, onlineOnly: onlineOnly)
        sharedFrame.removeAll()
        sharedFrameWithoutPresence.removeAll()
        sharedFrameWithAbsences.removeAll()
        var (events, servedCount) = (0, 0)
        for subscription in room.subscriptions {
            let peer = subscription.peer
            if peer.isBacklogged {
                if subscription.outbox.isOverrun(by: log) { overrun.append(peer) }
                continue
            }
            let cursor = subscription.outbox.cursor.rawValue
            if let form = batch.advance(&subscription.outbox, log: log) {
                let frame = sharedFrame(for: form)
                if frame.isEmpty { frame.append(contentsOf: batch.bytes(of: form)) }
                if subscription.outbox.hasPrivateLines {
                    ownFrame.removeAll()
                    frame.withUnsafeBytes { ownFrame.append(contentsOf: $0) }
                    subscription.outbox.dequeueLinesBehindBatch { line in
                        if !ownFrame.isEmpty { ownFrame.append(UInt8(ascii: "\n")) }
                        ownFrame.append(contentsOf: line)
                    }
                    write(ownFrame, to: peer)
                } else {
                    write(frame, to: peer)
                }
            } else if !catchUp(subscription, log: log, onlineOnly: onlineOnly) {
                overrun.append(peer)
            }
            events += Int(subscription.outbox.cursor.rawValue - cursor)
            servedCount += 1
        }
        statistics.eventDeliveries += events
        if !onlineOnly.isEmpty {
            statistics.onlineOnlyDeliveries += onlineOnly.count { $0.audience == .everyone } * servedCount
        }
        let eventCount = Int(log.lastSeq.rawValue - room.flushedThrough.rawValue)
        room.traffic.noteFlush(eventCount: eventCount, now: now)
        room.flushedThrough = log.lastSeq
        room.flushedAbsences = log.absences.version
    }

    private func sharedFrame(for form: Outbox.Form) -> OutboundFrame {
        switch form {
        case .plain: sharedFrame
        case .withoutPresence: sharedFrameWithoutPresence
        case .withAbsences: sharedFrameWithAbsences
        }
    }

    /// Brings one peer up to date.
    ///
    /// - Returns: false on an overrun (G4): the caller has to close the peer.
    func serve(_ peer: Peer<Socket>) -> Bool {
        guard !peer.isBacklogged else {
            guard let subscription = peer.subscription else { return true }
            return subscription.room.log(in: engine).map { !subscription.outbox.isOverrun(by: $0) } ?? true
        }
        writeUnjoinedLines(of: peer)
        guard let subscription = peer.subscription else { return true }
        let cursor = subscription.outbox.cursor.rawValue
        defer { statistics.eventDeliveries += Int(subscription.outbox.cursor.rawValue - cursor) }
        if let log = subscription.room.log(in: engine) { return catchUp(subscription, log: log, onlineOnly: []) }
        // The session is gone. Only the private lines are left.
        scratch.removeAll(keepingCapacity: true)
        let continues = subscription.outbox.isWithinMessage
        subscription.outbox.dequeuePrivateLines(into: &scratch)
        writeScratch(to: peer, as: MessagePart(continues: continues, isContinued: false))
        return true
    }

    /// The lines that a backlogged peer still has to get, as far as the log has them; nil if there are none.
    ///
    /// A peer that has not received its list of connections gets none of them: it is not connected yet, and a long list
    /// is not copied for a client that leaves.
    func unsent(of peer: Peer<Socket>) -> OutboundFrame? {
        scratch.removeAll(keepingCapacity: true)
        if let subscription = peer.subscription {
            if subscription.outbox.isWithinMessage { return nil }
            let progress = subscription.room.log(in: engine).map {
                subscription.outbox.dequeue(
                    from: $0, onlineOnly: [], byteLimit: limits.farewellByteCount, into: &scratch)
            }
            if subscription.outbox.isWithinMessage { return nil }
            if progress == nil { subscription.outbox.dequeuePrivateLines(into: &scratch) }
        } else {
            swap(&scratch, &peer.unjoinedLines)
        }
        if scratch.isEmpty { return nil }
        let frame = OutboundFrame(reservingByteCount: scratch.count)
        frame.append(contentsOf: scratch)
        return frame
    }

    private func catchUp(
        _ subscription: Subscription<Socket>, log: borrowing SessionLog, onlineOnly: [OnlineOnlySignal]
    ) -> Bool {
        var onlineOnly = onlineOnly
        while !subscription.peer.isBacklogged {
            scratch.removeAll(keepingCapacity: true)
            let continues = subscription.outbox.isWithinMessage
            let progress = subscription.outbox.dequeue(
                from: log, onlineOnly: onlineOnly, byteLimit: limits.catchUpByteCount, into: &scratch)
            let isContinued = subscription.outbox.isWithinMessage
            writeScratch(
                to: subscription.peer, as: MessagePart(continues: continues, isContinued: isContinued))
            switch progress {
            case .complete: return true
            // The online-only signals went out with this part, or are too late now (G6).
            case .partial: onlineOnly = []
            case .overrun: return false
            }
        }
        return !subscription.outbox.isOverrun(by: log)
    }

    private func writeUnjoinedLines(of peer: Peer<Socket>) {
        if peer.unjoinedLines.isEmpty { return }
        swap(&scratch, &peer.unjoinedLines)
        writeScratch(to: peer)
        peer.unjoinedLines = []
    }

    private func writeScratch(to peer: Peer<Socket>, as part: MessagePart = .whole) {
        if scratch.isEmpty { return }
        ownFrame.removeAll()
        ownFrame.append(contentsOf: scratch)
        write(ownFrame, as: part, to: peer)
    }

    private func write(_ frame: OutboundFrame, as part: MessagePart = .whole, to peer: Peer<Socket>) {
        if frame.isEmpty { return }
        switch peer.socket.write(frame, as: part) {
        case .sent: noteSent(frame, to: peer)
        case .closed: break
        case .backlogged:
            noteSent(frame, to: peer)
            statistics.backlogs += 1
            peer.isBacklogged = true
        case .refused: peer.isBacklogged = true
        }
    }

    private func noteSent(_ frame: OutboundFrame, to peer: Peer<Socket>) {
        statistics.sentMessages += 1
        statistics.sentBytes += frame.byteCount
        peer.subscription?.room.traffic.noteSent(byteCount: frame.byteCount)
    }
}
