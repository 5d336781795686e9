import DequeModule
import SignalingProtocol

extension Outbox {
    /// The first invariant that does not hold; `nil` if all do.
    ///
    /// - Parameters:
    ///   - end: of the session's log; `nil` if the session is gone.
    ///   - version: of the session's absences.
    package func violation(in end: SessionLog.End?, absences version: UInt64) -> String? {
        let byteCount = privateLines.reduce(entrance?.welcomeByteCount ?? 0) { $0 + $1.byteCount }
        if waitingByteCount != byteCount {
            return "WIRE-13: \(waitingByteCount) bytes wait by the count of the outbox, and \(byteCount) do"
        }
        if suppressesPresence, absences != nil { return "PRES-4: a client without presence would be told of absences" }
        guard let end else { return nil }
        if max(cursor, recoversThrough) > end.lastSeq {
            return "G3: the cursor is \(cursor), the replay ends at \(recoversThrough), and the log at \(end.lastSeq)"
        }
        if let line = privateLines.first(where: { $0.after > end.lastSeq }) {
            return "WIRE-8: an answer waits for the event \(line.after), and the log ends at \(end.lastSeq)"
        }
        if let told = absences?.version, told > version {
            return "PRES-4: the client knows the absences of version \(told), and the session has \(version)"
        }
        return nil
    }
}

extension PendingOnlineOnly {
    /// The first invariant that does not hold; `nil` if all do.
    package var violation: String? {
        let bytes = signals.reduce(0) { $0 + $1.line.byteCount }
        if signals.count > Self.limit || byteCount > Self.byteLimit || bytes != byteCount {
            return "G5: \(signals.count) online-only signals of \(bytes) bytes wait, and \(byteCount) are counted"
        }
        return nil
    }
}
