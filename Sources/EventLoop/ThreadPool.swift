import CLibuv

/// What blocks, done on libuv's threads. The results come back to the loop.
extension EventLoop {
    package func runOnThreadPool(
        _ work: @escaping @Sendable () -> [UInt8], _ done: @escaping ([UInt8]) -> Void
    ) {
        let request = UnsafeMutablePointer<uv_work_t>.allocate(capacity: 1)
        request.pointee.data = Unmanaged.passRetained(Job(work, done)).toOpaque()
        // The job is used on one thread at a time: the pool's, then the loop's.
        uv_queue_work(
            uv, request,
            { request in
                guard let data = request?.pointee.data else { return }
                let job = Unmanaged<Job>.fromOpaque(data).takeUnretainedValue()
                job.result = job.work()
            },
            { request, status in
                guard let request, let data = request.pointee.data else { return }
                let job = Unmanaged<Job>.fromOpaque(data).takeRetainedValue()
                request.deallocate()
                if status == 0 { job.done(job.result) }
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
        let held = Unmanaged.passRetained(Search(done))
        request.pointee.data = held.toOpaque()
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        let outcome = uv_getaddrinfo(
            uv, request,
            { request, status, found in
                guard let request, let data = request.pointee.data else { return }
                let held = Unmanaged<Search>.fromOpaque(data).takeRetainedValue()
                request.deallocate()
                defer { uv_freeaddrinfo(found) }
                held.done(Result { () throws(EventLoopError) in try EventLoop.text(status, found) })
            }, host, nil, &hints)
        guard outcome != 0 else { return }
        held.release()
        request.deallocate()
        done(.failure(EventLoopError(code: outcome)))
    }

    private static func text(
        _ status: Int32, _ found: UnsafeMutablePointer<addrinfo>?
    ) throws(EventLoopError) -> String {
        guard status == 0, let address = found?.pointee.ai_addr else { throw EventLoopError(code: status) }
        var text = [CChar](repeating: 0, count: 64)
        let outcome =
            if Int32(address.pointee.sa_family) == AF_INET6 {
                address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { uv_ip6_name($0, &text, text.count) }
            } else {
                address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { uv_ip4_name($0, &text, text.count) }
            }
        try EventLoopError.check(outcome)
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private final class Job {
        let work: @Sendable () -> [UInt8]
        let done: ([UInt8]) -> Void
        var result: [UInt8] = []

        init(_ work: @escaping @Sendable () -> [UInt8], _ done: @escaping ([UInt8]) -> Void) {
            self.work = work
            self.done = done
        }
    }

    private final class Search {
        let done: (Result<String, EventLoopError>) -> Void
        init(_ done: @escaping (Result<String, EventLoopError>) -> Void) { self.done = done }
    }
}
