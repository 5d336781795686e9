import DequeModule
import Dispatch
import SignalingCore
import Synchronization
import Testing

@testable import SignalingSQLite

@Suite("The thread of a database", .timeLimit(.minutes(5)))
struct DatabaseThreadTests {
    /// What a worker is told to answer, and what it has done.
    private final class Script: Sendable {
        struct State {
            var isFull = false
            var events: [String] = []
        }

        private let state = Mutex(State())
        let steps = DispatchSemaphore(value: 0)

        var events: [String] { state.withLock { $0.events } }
        func setFull(_ isFull: Bool) { state.withLock { $0.isFull = isFull } }
        var isFull: Bool { state.withLock { $0.isFull } }
        func note(_ event: String) { state.withLock { $0.events.append(event) } }

        /// Waits until a step with work has ended.
        func awaitStep() { #expect(steps.wait(timeout: .now() + 60) == .success) }
    }

    /// Commits one number at a time.
    private final class Committer: DatabaseWorker {
        private let script: Script
        private var number: Int?

        init(_ script: Script) { self.script = script }

        var hasWork: Bool { number != nil }
        func take(from queue: inout Deque<Int>) { if number == nil { number = queue.popFirst() } }

        func step(isSignOfLife: Bool) -> DatabaseStep {
            guard let taken = number else { return .done }
            defer { script.steps.signal() }
            script.note(script.isFull ? "full \(taken)" : "\(taken)")
            if script.isFull { return .stalled(DatabaseThreadTests.full) }
            number = nil
            return .done
        }

        func close(after stall: CommandLogFault?) throws(CommandLogFault) {
            script.note(stall == nil ? "close, left \(number.map(String.init) ?? "nothing")" : "close after a stall")
            if let stall { throw stall }
        }
    }

    fileprivate static let full = CommandLogFault(.full, "full")
    private let script = Script()

    private func thread() throws -> DatabaseThread<Committer> {
        try DatabaseThread(Committer(script), name: "test", ticks: false)
    }

    @Test("LOG-23: a stalled step is repeated at a sign of life, before all later work")
    func repeats() throws {
        let thread = try thread()
        script.setFull(true)
        thread.add([1])
        script.awaitStep()
        thread.add([2])
        thread.settle()
        #expect(!thread.useIdle { _ in true })
        #expect(thread.isBusy)
        thread.signOfLifeIsDue()
        script.awaitStep()
        script.setFull(false)
        thread.signOfLifeIsDue()
        script.awaitStep()
        script.awaitStep()
        thread.settle()
        #expect(!thread.isBusy)
        try thread.close()
        #expect(script.events == ["full 1", "full 1", "1", "2", "close, left nothing"])
    }

    @Test("LOG-23: closing repeats a stalled step once, and says why the rest is not kept")
    func closesWhileStalled() throws {
        let thread = try thread()
        script.setFull(true)
        thread.add([1])
        script.awaitStep()
        #expect(throws: Self.full) { try thread.close() }
        #expect(script.events == ["full 1", "full 1", "close after a stall"])
    }

    @Test("HIS-2: behind its deadline closing executes nothing more, and the worker knows that work is left")
    func closesLate() throws {
        let thread = try thread()
        script.setFull(true)
        thread.add([1, 2])
        script.awaitStep()
        script.setFull(false)
        try thread.close(by: .now())
        #expect(script.events == ["full 1", "close, left 1"])
    }

    @Test("LOG-20: an abandoned thread ends without closing, as a crash does")
    func abandons() throws {
        let thread = try thread()
        thread.add([1])
        script.awaitStep()
        thread.abandon()
        thread.add([2])
        try thread.close()
        #expect(script.events == ["1"])
    }
}
