/// Carries something that belongs to a loop through code that does not: only on the loop is it opened.
///
/// ```swift
/// let server = try await loop.run { LoopConfined(try TransportServer(loop: loop, …), to: loop) }
/// loop.post { server.value.stopAccepting() }
/// ```
///
/// Unchecked: the value is reached through a check of the thread, and given back on the loop.
public final class LoopConfined<Value>: @unchecked Sendable {
    public let loop: LoopThread
    private var stored: Value?

    /// On the loop.
    public init(_ value: Value, to loop: LoopThread) {
        loop.preconditionCurrent()
        self.loop = loop
        stored = value
    }

    deinit {
        guard !loop.isCurrent, let stored else { return }
        self.stored = nil
        // Its last use has to happen on the loop. When the loop has ended, there is nobody left to be disturbed.
        nonisolated(unsafe) let last = stored
        loop.post { withExtendedLifetime(last) {} }
    }

    /// On the loop only; stops the process elsewhere.
    public var value: Value {
        loop.preconditionCurrent()
        guard let stored else { preconditionFailure("the value was given back") }
        return stored
    }
}
