/// Decides which of the user's messages the channel sends next: one at a time, in the order in which they were written.
/// A failed message holds back those behind it until it is sent, discarded, or passed over.
struct SendQueue {
    /// The maximum number of messages, failed ones included (G5).
    static let capacity = 100

    /// `doubted`: it may have arrived. It holds back those behind it until its fate is known.
    private enum Status { case waiting, inFlight, doubted, failed, passedOver }

    private var entries: [(id: LocalID, status: Status)] = []

    var isFull: Bool { entries.count >= Self.capacity }

    mutating func append(_ id: LocalID) { entries.append((id, .waiting)) }

    /// Adds a failed message of an earlier run of the program, which holds back nothing.
    mutating func appendPassedOver(_ id: LocalID) { entries.append((id, .passedOver)) }

    /// The message to send next; nil while another is in flight, or a failed one holds the queue back.
    var next: LocalID? {
        guard !entries.contains(where: { $0.status == .inFlight }),
            let first = entries.first(where: { $0.status != .passedOver })
        else { return nil }
        return first.status == .waiting ? first.id : nil
    }

    /// The failed message that holds back those behind it.
    var obstacle: LocalID? { entries.first { $0.status == .failed }?.id }

    /// The failed message that holds back this one; nil if this one does not wait for a failed message.
    func obstacle(before id: LocalID) -> LocalID? {
        guard let index = entries.firstIndex(where: { $0.id == id }), entries[index].status == .waiting else {
            return nil
        }
        return entries[..<index].first { $0.status == .failed }?.id
    }

    /// Withdraws a message that was not started: it counts as failed and holds back nothing. False for any other.
    mutating func withdraw(_ id: LocalID) -> Bool {
        guard let index = entries.firstIndex(where: { $0.id == id }), entries[index].status == .waiting else {
            return false
        }
        entries[index].status = .passedOver
        return true
    }

    mutating func doubt(_ id: LocalID) { set(id, .doubted) }

    func isDoubted(_ id: LocalID) -> Bool { entries.contains { $0.id == id && $0.status == .doubted } }

    /// A doubted message has not arrived, and waits again at its place.
    mutating func resume(_ id: LocalID) { set(id, .waiting) }

    /// The message waits for the user, and holds back nothing.
    mutating func pass(_ id: LocalID) { set(id, .passedOver) }

    mutating func start(_ id: LocalID) { set(id, .inFlight) }
    mutating func fail(_ id: LocalID) { set(id, .failed) }

    /// A failed message waits again. It passes the failed messages before it.
    mutating func retry(_ id: LocalID) {
        guard let index = entries.firstIndex(where: { $0.id == id }) else { return }
        entries[index].status = .waiting
        pass(entries.indices[..<index])
    }

    /// The message was sent or discarded.
    mutating func remove(_ id: LocalID) { entries.removeAll { $0.id == id } }

    /// From now on the failed messages hold back nothing.
    mutating func passFailed() { pass(entries.indices) }

    /// Fails all messages that were not started, and returns them. The message in flight has an answer coming.
    mutating func failWaiting() -> [LocalID] {
        let waiting = entries.filter { $0.status == .waiting }.map(\.id)
        for id in waiting { fail(id) }
        return waiting
    }

    private mutating func pass(_ indices: Range<Int>) {
        for index in indices where entries[index].status == .failed { entries[index].status = .passedOver }
    }

    private mutating func set(_ id: LocalID, _ status: Status) {
        guard let index = entries.firstIndex(where: { $0.id == id }) else { return }
        entries[index].status = status
    }
}
