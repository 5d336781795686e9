import CLibuv

/// What blocks, done on libuv's threads. The results come back to the loop.
extension EventLoop {
    private typealias Job = Box<(work: () -> Void, done: () -> Void)>
    private typealias Search = Box<(Result<String, EventLoopError>) -> Void>

    package func runOnThreadPool<Value: Sendable>(
        _ work: @escaping @Sendable () -> Value, _ done: @escaping (Value) -> Void
    ) {
        // The job and its value are used on one thread at a time: the pool's, then the loop's.
        let value = Box<Value?>(nil)
        let job = Job((work: { value.content = work() }, done: { if let value = value.content { done(value) } }))
        let request = UnsafeMutablePointer<uv_work_t>.allocate(capacity: 1)
        request.pointee.data = Unmanaged.passRetained(job).toOpaque()
        uv_queue_work(
            uv, request,
            { request in
                guard let data = request?.pointee.data else { return }
                Unmanaged<Job>.fromOpaque(data).takeUnretainedValue().content.work()
            },
            { request, status in
                guard let request, let data = request.pointee.data else { return }
                let job = Unmanaged<Job>.fromOpaque(data).takeRetainedValue().content
                request.deallocate()
                if status == 0 { job.done() }
            })
    }

    /// Whether the text is an IP address.
    package static func isAddress(_ host: String) -> Bool {
        var v4 = sockaddr_in()
        var v6 = sockaddr_in6()
        return uv_ip4_addr(host, 0, &v4) == 0 || uv_ip6_addr(host, 0, &v6) == 0
    }

    /// Finds the first IP address of a host.
    package func findAddress(of host: String, _ done: @escaping (Result<String, EventLoopError>) -> Void) {
        let request = UnsafeMutablePointer<uv_getaddrinfo_t>.allocate(capacity: 1)
        let search = Unmanaged.passRetained(Search(done))
        request.pointee.data = search.toOpaque()
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        let outcome = uv_getaddrinfo(
            uv, request,
            { request, status, found in
                guard let request, let data = request.pointee.data else { return }
                let done = Unmanaged<Search>.fromOpaque(data).takeRetainedValue().content
                request.deallocate()
                defer { uv_freeaddrinfo(found) }
                done(Result { () throws(EventLoopError) in try EventLoop.text(status, found) })
            }, host, nil, &hints)
        guard outcome != 0 else { return }
        search.release()
        request.deallocate()
        done(.failure(EventLoopError(code: outcome)))
    }

    private static func text(
        _ status: Int32, _ found: UnsafeMutablePointer<addrinfo>?
    ) throws(EventLoopError) -> String {
        guard status == 0, let found else { throw EventLoopError(code: status) }
        var text = [CChar](repeating: 0, count: 64)
        try EventLoopError.check(uv_ip_name(found.pointee.ai_addr, &text, text.count))
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// Carries a value through a pointer of C.
final class Box<Content> {
    var content: Content
    init(_ content: Content) { self.content = content }
}
