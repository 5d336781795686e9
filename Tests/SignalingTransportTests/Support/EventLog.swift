import Synchronization

struct TimedOut: Error, CustomStringConvertible {
    let description: String
}

/// Records events in order, from any thread, and lets a test wait for one with a deadline.
final class EventLog<Event: Sendable>: Sendable {
    private struct Waiter {
        let matches: @Sendable (Event) -> Bool
        let continuation: CheckedContinuation<Event, any Error>
    }
    private struct State {
        var events: [Event] = []
        var waiters: [Int: Waiter] = [:]
        var nextID = 0
    }
    private let state = Mutex(State())

    var all: [Event] { state.withLock { $0.events } }

    func append(_ event: Event) {
        let woken = state.withLock { state in
            state.events.append(event)
            let woken = state.waiters.filter { $0.value.matches(event) }
            for id in woken.keys { state.waiters[id] = nil }
            return woken.values.map(\.continuation)
        }
        for continuation in woken { continuation.resume(returning: event) }
    }

    /// Returns the first event that matches, recorded already or still to come.
    ///
    /// - Parameter limit: long, so that it suits a busy machine and a build with a sanitizer.
    @discardableResult
    func first(
        _ what: String = "event", within limit: Duration = .seconds(60),
        where matches: @escaping @Sendable (Event) -> Bool
    ) async throws -> Event {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let alarm = Task {
            try await Task.sleep(for: limit)
            let waiter = self.state.withLock { $0.waiters.removeValue(forKey: id) }
            waiter?.continuation.resume(
                throwing: TimedOut(description: "no \(what) within \(limit); seen: \(self.all)"))
        }
        defer { alarm.cancel() }
        return try await withCheckedThrowingContinuation { continuation in
            let found = state.withLock { state -> Event? in
                if let event = state.events.first(where: matches) { return event }
                state.waiters[id] = Waiter(matches: matches, continuation: continuation)
                return nil
            }
            if let found { continuation.resume(returning: found) }
        }
    }
}
