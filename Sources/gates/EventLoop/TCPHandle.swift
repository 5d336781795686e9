import CLibuv

/// A TCP connection that this program makes.
package final class TCPHandle: LoopHandle {
    package enum Event {
        case connected
        /// Valid during the call.
        case received(UnsafeRawBufferPointer)
        /// The connection is lost, or cannot be made; `nil` if the peer has closed it.
        case ended(EventLoopError?)
    }

    private static let readByteCount = 65_536
    private static let keepAliveSeconds: UInt32 = 15

    private let onEvent: (Event) -> Void
    /// libuv reads into it.
    private let buffer = UnsafeMutableBufferPointer<CChar>.allocate(capacity: readByteCount)

    /// - Parameters:
    ///   - address: an IP address.
    ///   - onEvent: called on the loop, until the handle is closed.
    package init(
        to address: String, port: Int, on loop: EventLoop, _ onEvent: @escaping (Event) -> Void
    ) throws(EventLoopError) {
        self.onEvent = onEvent
        // A write to a connection that the peer has closed would end the process.
        signalbox_ignore_broken_pipes()
        try super.init { handle throws(EventLoopError) in try EventLoopError.check(uv_tcp_init(loop.uv, handle)) }
        try connect(to: address, port: Int32(clamping: port))
    }

    deinit { buffer.deallocate() }

    private func connect(to address: String, port: Int32) throws(EventLoopError) {
        guard let tcp = opened(as: uv_tcp_t.self) else { return }
        let request = UnsafeMutablePointer<uv_connect_t>.allocate(capacity: 1)
        var socketAddress = sockaddr_storage()
        let outcome = withUnsafeMutablePointer(to: &socketAddress) { pointer in
            let raw = UnsafeMutableRawPointer(pointer)
            if uv_ip4_addr(address, port, raw.assumingMemoryBound(to: sockaddr_in.self)) != 0 {
                let outcome = uv_ip6_addr(address, port, raw.assumingMemoryBound(to: sockaddr_in6.self))
                if outcome != 0 { return outcome }
            }
            return uv_tcp_connect(request, tcp, raw.assumingMemoryBound(to: sockaddr.self)) { request, status in
                guard let request else { return }
                let owner = TCPHandle.owner(request.pointee.handle?.pointee.data)
                request.deallocate()
                owner?.connected(status)
            }
        }
        if outcome != 0 {
            request.deallocate()
            throw EventLoopError(code: outcome)
        }
    }

    private func connected(_ status: Int32) {
        guard let stream = opened(as: uv_stream_t.self), let tcp = opened(as: uv_tcp_t.self) else { return }
        if status != 0 { return onEvent(.ended(EventLoopError(code: status))) }
        uv_tcp_nodelay(tcp, 1)
        uv_tcp_keepalive(tcp, 1, Self.keepAliveSeconds)
        let outcome = uv_read_start(
            stream,
            { handle, _, found in
                // Without a buffer, libuv reports an error.
                guard let owner = TCPHandle.owner(handle?.pointee.data) else { return }
                found?.pointee = uv_buf_init(owner.buffer.baseAddress, UInt32(owner.buffer.count))
            },
            { stream, count, _ in TCPHandle.owner(stream?.pointee.data)?.read(count) })
        onEvent(outcome == 0 ? .connected : .ended(EventLoopError(code: outcome)))
    }

    private func read(_ count: Int) {
        if count > 0 {
            onEvent(.received(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count])))
        } else if count < 0 {
            let code = Int32(clamping: count)
            onEvent(.ended(code == UV_EOF.rawValue ? nil : EventLoopError(code: code)))
        }
    }

    /// Writes at once what the connection accepts, and the rest later.
    package func write(_ bytes: [UInt8]) {
        guard let stream = opened(as: uv_stream_t.self), !bytes.isEmpty else { return }
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        copy.copyBytes(from: bytes)
        let request = UnsafeMutablePointer<uv_write_t>.allocate(capacity: 1)
        request.pointee.data = copy.baseAddress
        var content = uv_buf_t(base: copy.baseAddress?.assumingMemoryBound(to: CChar.self), len: copy.count)
        let outcome = uv_write(request, stream, &content, 1) { request, status in
            guard let request else { return }
            let owner = TCPHandle.owner(request.pointee.handle?.pointee.data)
            request.pointee.data?.deallocate()
            request.deallocate()
            if status != 0 { owner?.onEvent(.ended(EventLoopError(code: status))) }
        }
        guard outcome != 0 else { return }
        copy.deallocate()
        request.deallocate()
        onEvent(.ended(EventLoopError(code: outcome)))
    }
}
