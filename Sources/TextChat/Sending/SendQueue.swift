/// Which of one's own messages goes to the channel next: one at a time, in the order in which they were written. One that has
/// failed holds back those behind it until it is sent or discarded, or until somebody lets them pass.
struct SendQueue {
    /// Messages that may be here, failed ones included (G5).
    static let capacity = 100

    enum Turn { case now, later, never }

    private enum Status { case waiting, inFlight, failed, passedOver }

    private var entries: [(id: LocalID, status: Status)] = []
    /// Nothing starts while this is true.
    var isPaused = false

    var isFull: Bool { entries.count >= Self.capacity }

    mutating func append(_ id: LocalID) { entries.append((id, .waiting)) }

    /// A failed message that holds back nothing: from an earlier run of the program.
    mutating func appendPassedOver(_ id: LocalID) { entries.append((id, .passedOver)) }

    /// The message whose turn it is; nil while another is under way, or is in the way.
    var next: LocalID? {
        guard !isPaused, !entries.contains(where: { $0.status == .inFlight }) else { return nil }
        guard let first = entries.first(where: { $0.status != .passedOver }) else { return nil }
        return first.status == .waiting ? first.id : nil
    }

    /// The failed message that holds back others, or will.
    var obstacle: LocalID? { entries.first { $0.status == .failed }?.id }

    func turn(of id: LocalID) -> Turn {
        guard let entry = entries.first(where: { $0.id == id }), entry.status == .waiting else { return .never }
        return next == id ? .now : .later
    }

    mutating func start(_ id: LocalID) { set(id, .inFlight) }
    mutating func fail(_ id: LocalID) { set(id, .failed) }

    /// Whoever asks for this one asks for it to pass the failed ones before it, too.
    mutating func retry(_ id: LocalID) {
        guard let place = entries.firstIndex(where: { $0.id == id }) else { return }
        entries[place].status = .waiting
        for place in entries.indices[..<place] where entries[place].status == .failed {
            entries[place].status = .passedOver
        }
    }

    /// Sent or discarded.
    mutating func remove(_ id: LocalID) { entries.removeAll { $0.id == id } }

    mutating func passFailed() {
        for place in entries.indices where entries[place].status == .failed { entries[place].status = .passedOver }
    }

    /// Fails all that has not been started; what is under way has an answer coming. Returns which.
    mutating func failWaiting() -> [LocalID] {
        var failed: [LocalID] = []
        for place in entries.indices where entries[place].status == .waiting {
            entries[place].status = .failed
            failed.append(entries[place].id)
        }
        return failed
    }

    private mutating func set(_ id: LocalID, _ status: Status) {
        guard let place = entries.firstIndex(where: { $0.id == id }) else { return }
        entries[place].status = status
    }
}
