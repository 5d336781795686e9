import DequeModule
import SignalingProtocol

extension SessionLog {
    /// The first invariant that does not hold; `nil` if all do. Takes time in proportion to the events.
    var violation: String? {
        if entries.count > 1, entries.count > bounds.eventCount || byteCount > bounds.byteCount {
            return "G5: the log has \(entries.count) events of \(byteCount) bytes, and its bounds are "
                + "\(bounds.eventCount) and \(bounds.byteCount)"
        }
        var (last, bytes, exclusive) = (reachesBackTo, 0, Seq?.none)
        for entry in entries {
            if entry.seq != last.next { return "G1: the log has \(entry.seq) after \(last)" }
            last = entry.seq
            bytes += entry.line.byteCount
            if entry.isExclusive { exclusive = entry.seq }
        }
        if bytes != byteCount { return "G5: the log counts \(byteCount) bytes, and has \(bytes)" }
        if exclusive.map({ $0 != lastExclusiveSeq }) ?? (lastExclusiveSeq > reachesBackTo) {
            return "G3: members would share bytes up to \(lastExclusiveSeq), and the last event for some of them is "
                + "\(exclusive.map { "\($0)" } ?? "none")"
        }
        return absences.violation
    }
}

extension Absences {
    fileprivate var violation: String? {
        if ids.count != members.count || !ids.allSatisfy(members.contains) {
            return "PRES-4: \(ids.count) connections are away in their order, and \(members.count) by their IDs"
        }
        if ids.count > Limits.awayCount { return "PRES-4: \(ids.count) connections are away" }
        return nil
    }
}
