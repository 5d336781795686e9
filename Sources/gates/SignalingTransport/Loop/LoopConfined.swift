/// Carries a value that is confined to a loop through code on other threads. The value can be read on the loop only.
///
/// ```swift
/// let server = try await loop.run { LoopConfined(try TransportServer(loop: loop, …), to: loop) }
/// loop.post { server.value.stopAccepting() }
/// ```
///
/// Unchecked: every access checks the thread, and the value is released on the loop.
public final class LoopConfined<Value>: @unchecked Sendable {
    public let loop: LoopThread
    private var stored: Value?

    /// Create it on the loop.
    public init(_ value: Value, to loop: LoopThread) {
        loop.preconditionCurrent()
        self.loop = loop
        stored = value
    }

    deinit {
        guard !loop.isCurrent, let stored else { return }
        self.stored = nil
        // The value is released on the loop. When the loop has stopped, nothing else uses the value.
        nonisolated(unsafe) let last = stored
        loop.post { withExtendedLifetime(last) {} }
    }

    /// The value. Stops the process if the caller is not on the loop's thread.
    public var value: Value {
        loop.preconditionCurrent()
        guard let stored else { preconditionFailure("the value was read after its owner was released") }
        return stored
    }
}
