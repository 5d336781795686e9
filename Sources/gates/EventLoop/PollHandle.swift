import CLibuv

/// Watches a descriptor, and calls its action as long as the descriptor is ready. It does not close the descriptor.
package final class PollHandle: LoopHandle {
    package struct Events: OptionSet {
        package let rawValue: Int32
        package init(rawValue: Int32) { self.rawValue = rawValue }

        package static var readable: Self { Self(rawValue: Int32(UV_READABLE.rawValue)) }
        package static var writable: Self { Self(rawValue: Int32(UV_WRITABLE.rawValue)) }
        /// The peer has sent its last byte.
        package static var disconnected: Self { Self(rawValue: Int32(UV_DISCONNECT.rawValue)) }
    }

    private let action: (Events?) -> Void

    /// - Parameter action: gets the events; `nil` after an error, with which libuv stops the handle.
    package init(on loop: EventLoop, descriptor: Int32, _ action: @escaping (Events?) -> Void) throws(EventLoopError) {
        self.action = action
        try super.init { handle throws(EventLoopError) in
            try EventLoopError.check(uv_poll_init(loop.uv, handle, descriptor))
        }
    }

    /// Watches for these events, and for no others.
    package func watch(_ events: Events) {
        guard let poll = opened(as: uv_poll_t.self) else { return }
        uv_poll_start(poll, events.rawValue) { handle, status, events in
            // Retained while it runs: the action may release its own handle.
            let action = PollHandle.owner(handle?.pointee.data)?.action
            action?(status == 0 ? Events(rawValue: events) : nil)
        }
    }

    /// Watches for nothing.
    package func stop() { if let poll = opened(as: uv_poll_t.self) { uv_poll_stop(poll) } }
}
