import SignalingCore
import SignalingProtocol
import SignalingTransport

/// Writes what members and lone sockets lack, each in one text message. Confined to the loop.
///
/// Writes go straight to the socket while it accepts; one that does not is left alone until it has drained, and is then
/// brought up to date from its cursor. So a slow client costs the others nothing (G5).
final class Delivery {
    /// Most bytes in one text message to a client that has fallen behind; the rest follows when the socket drains.
    private static let catchUpByteCount = 65_536
    /// The same for the last one, after which nothing follows.
    private static let farewellByteCount = 1_048_576

    private let engine: any SessionEngine
    private let own = OutboundFrame(reservingByteCount: FlushScheduler.byteLimit)
    private let plain = OutboundFrame(reservingByteCount: FlushScheduler.byteLimit)
    private let suppressed = OutboundFrame(reservingByteCount: FlushScheduler.byteLimit)
    private var scratch: [UInt8] = []

    init(engine: any SessionEngine) {
        self.engine = engine
    }

    /// Brings every member of a room to the end of its log: those that are up to date with the same bytes.
    ///
    /// - Returns: the peers that the log has gone past; they have to be closed.
    func flush(_ room: Room, now: MonotonicInstant) -> [Peer] {
        var lost: [Peer] = []
        _ = engine.withLog(of: room.session) { log in
            var batch = SharedBatch(log: log, after: room.flushedThrough, onlineOnly: room.pendingOnlineOnly.signals)
            plain.removeAll()
            suppressed.removeAll()
            for member in room.members {
                if member.peer.isBacklogged {
                    if isLost(member, log: log) { lost.append(member.peer) }
                } else if let bytes = batch.bytes(for: &member.outbox, log: log) {
                    let shared = member.outbox.suppressesPresence ? suppressed : plain
                    // Filled for the first of its kind; the others get the same bytes.
                    if shared.isEmpty { shared.append(contentsOf: bytes) }
                    write(shared, to: member.peer)
                } else if !serve(member, log: log, onlineOnly: room.pendingOnlineOnly.signals) {
                    lost.append(member.peer)
                }
            }
            room.flushedThrough = log.lastSeq
        }
        room.pendingOnlineOnly.removeAll()
        room.flushScheduler.noteFlushed(at: now)
        return lost
    }

    /// Brings one socket up to date.
    ///
    /// - Returns: whether it may stay: false when the log has gone past it (G4).
    func serve(_ peer: Peer) -> Bool {
        guard !peer.isBacklogged else {
            guard let member = peer.member else { return true }
            return engine.withLog(of: member.room.session) { !isLost(member, log: $0) } ?? true
        }
        writeLoneLines(of: peer)
        guard let member = peer.member else { return true }
        if let stays = engine.withLog(
            of: member.room.session, { serve(member, log: $0, onlineOnly: []) })
        {
            return stays
        }
        // Its session is gone; only what is for it alone is left.
        scratch.removeAll(keepingCapacity: true)
        member.outbox.dequeuePrivateLines(into: &scratch)
        writeScratch(to: peer)
        return true
    }

    /// What a backlogged socket that is about to be closed lacks, as far as it is in the log; nil if that is nothing.
    func farewell(to peer: Peer) -> OutboundFrame? {
        scratch.removeAll(keepingCapacity: true)
        if let member = peer.member {
            let taken = engine.withLog(of: member.room.session) {
                member.outbox.dequeue(from: $0, onlineOnly: [], byteLimit: Self.farewellByteCount, into: &scratch)
            }
            if taken == nil { member.outbox.dequeuePrivateLines(into: &scratch) }
        } else {
            swap(&scratch, &peer.loneLines)
        }
        if scratch.isEmpty { return nil }
        let frame = OutboundFrame(reservingByteCount: scratch.count)
        frame.append(contentsOf: scratch)
        return frame
    }

    private func isLost(_ member: Member, log: borrowing SessionLog) -> Bool {
        member.outbox.cursor < log.reachesBackTo
    }

    private func serve(_ member: Member, log: borrowing SessionLog, onlineOnly: [OnlineOnlySignal]) -> Bool {
        var onlineOnly = onlineOnly
        while !member.peer.isBacklogged {
            scratch.removeAll(keepingCapacity: true)
            let taken = member.outbox.dequeue(
                from: log, onlineOnly: onlineOnly, byteLimit: Self.catchUpByteCount, into: &scratch)
            writeScratch(to: member.peer)
            switch taken {
            case .complete: return true
            // Its online-only signals went out with the part, or are too late by now (G6).
            case .partial: onlineOnly = []
            case .overrun: return false
            }
        }
        return !isLost(member, log: log)
    }

    private func writeLoneLines(of peer: Peer) {
        if peer.loneLines.isEmpty { return }
        swap(&scratch, &peer.loneLines)
        writeScratch(to: peer)
        peer.loneLines = []
    }

    private func writeScratch(to peer: Peer) {
        if scratch.isEmpty { return }
        own.removeAll()
        own.append(contentsOf: scratch)
        write(own, to: peer)
    }

    private func write(_ frame: OutboundFrame, to peer: Peer) {
        if frame.byteCount == 0 { return }
        switch peer.socket.write(frame) {
        case .sent, .closed: break
        case .backlogged, .refused: peer.isBacklogged = true
        }
    }
}
