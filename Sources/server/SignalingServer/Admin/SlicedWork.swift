import SignalingTransport

/// Long work on the loop, in slices: a turn of the loop does one slice, so that other clients do not wait for the rest.
/// Sources take turns. Confined to the loop.
final class SlicedWork<Source: Hashable> {
    private struct Work {
        let source: Source
        /// Does one slice.
        ///
        /// Returns whether the work is done.
        let slice: () -> Bool
    }

    private let hub: ServerHub
    private var queue = TurnQueue<Source, Work>(countPerTurn: 1)
    private var timer: LoopTimer?

    init(hub: ServerHub) {
        self.hub = hub
        timer = hub.environment.makeTimer { [weak self] in self?.continueWork() }
    }

    /// Begins work that goes on, slice by slice, until `slice` returns true.
    func begin(for source: Source, slice: @escaping () -> Bool) { run(Work(source: source, slice: slice)) }

    private func run(_ work: Work) {
        guard queue.admits(work, of: work.source, in: hub.turn) else { return scheduleTurn() }
        // In the same turn, so the rest waits for the next one.
        if !work.slice() { run(work) }
    }

    private func continueWork() {
        queue.begin(hub.turn)
        while let work = queue.next() { run(work) }
        if queue.count > 0 { scheduleTurn() }
    }

    private func scheduleTurn() { timer?.schedule(at: hub.environment.now) }
}
