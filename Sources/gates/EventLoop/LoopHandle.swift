import CLibuv

/// A handle of libuv, with its owner. It is closed at the latest when its owner is released, and its memory lives until
/// libuv has closed it ("uv_close" requires that).
package class LoopHandle {
    /// The `uv_handle_t` with which each handle begins; `nil` when it is closed.
    private final var base: UnsafeMutablePointer<uv_handle_t>?

    /// - Parameter open: hands the memory to libuv.
    init<Handle, Failure>(_ open: (UnsafeMutablePointer<Handle>) throws(Failure) -> Void) throws(Failure) {
        let handle = UnsafeMutablePointer<Handle>.allocate(capacity: 1)
        do throws(Failure) {
            try open(handle)
        } catch {
            handle.deallocate()
            throw error
        }
        let base = UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_handle_t.self)
        base.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        self.base = base
    }

    deinit { closeHandle() }

    /// No action follows. Idempotent.
    package func close() { closeHandle() }

    private final func closeHandle() {
        guard let base else { return }
        self.base = nil
        // Requests that end with the handle find no owner.
        base.pointee.data = nil
        uv_close(base) { closed in closed.map { UnsafeMutableRawPointer($0).deallocate() } }
    }

    /// The handle as libuv's functions take it, unless it is closed.
    final func opened<Handle>(as type: Handle.Type) -> UnsafeMutablePointer<Handle>? {
        base.map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: type) }
    }

    /// The owner, in a callback of libuv.
    static func owner(_ data: UnsafeMutableRawPointer?) -> Self? {
        data.map { Unmanaged<Self>.fromOpaque($0).takeUnretainedValue() }
    }
}

/// Has its action called on the loop, from any thread.
package final class WakeUpHandle: LoopHandle {
    private let action: () -> Void

    package init(on loop: EventLoop, _ action: @escaping () -> Void) throws(EventLoopError) {
        self.action = action
        try super.init { handle throws(EventLoopError) in
            try EventLoopError.check(uv_async_init(loop.uv, handle) { WakeUpHandle.owner($0?.pointee.data)?.action() })
        }
    }

    /// Can be called from any thread, until the handle is closed.
    package func wake() { if let handle = opened(as: uv_async_t.self) { uv_async_send(handle) } }
}

/// Calls its action at the end of each turn.
///
/// libuv's order is timers, idle, prepare, wait and input, closing. `prepare` runs once per iteration: after the input
/// of the iteration before and the timers, and before the wait.
package final class TurnEndHandle: LoopHandle {
    private let action: () -> Void

    package init(on loop: EventLoop, _ action: @escaping () -> Void) {
        self.action = action
        super.init { handle in
            uv_prepare_init(loop.uv, handle)
            uv_prepare_start(handle) { TurnEndHandle.owner($0?.pointee.data)?.action() }
        }
    }
}
