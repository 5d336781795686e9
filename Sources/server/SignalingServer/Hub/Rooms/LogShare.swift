import SignalingCore

/// A part of a log.
struct LogShare {
    var eventCount = 0
    var byteCount = 0

    /// Whether the log loses a position that is this far back when as much follows once more.
    func isHalf(of bounds: SessionLog.Bounds) -> Bool {
        eventCount >= max(1, bounds.eventCount / 2) || byteCount >= bounds.byteCount / 2
    }
}
