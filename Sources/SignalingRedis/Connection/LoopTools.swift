import CHiredis
import SignalingCore
import SignalingProtocol

/// The libuv loop on which a log runs, and its clock.
public struct RedisLoop {
    let uv: UnsafeMutablePointer<uv_loop_t>
    let now: () -> MonotonicInstant

    /// - Parameters:
    ///   - uvLoop: the address of the `uv_loop_t`. The log's methods are called on its thread. It must run until the log
    ///     is closed, and after that until the log's handles have closed.
    ///   - now: the clock of the instants that the log's caller passes.
    public init(uvLoop: UnsafeMutableRawPointer, now: @escaping () -> MonotonicInstant) {
        uv = uvLoop.assumingMemoryBound(to: uv_loop_t.self)
        self.now = now
    }
}

/// A timer that repeats until it is stopped.
final class LoopTicker {
    private var timer: UnsafeMutablePointer<uv_timer_t>?
    private let action: () -> Void

    init(loop: RedisLoop, every interval: Duration, _ action: @escaping () -> Void) {
        self.action = action
        let timer = UnsafeMutablePointer<uv_timer_t>.allocate(capacity: 1)
        uv_timer_init(loop.uv, timer)
        timer.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        self.timer = timer
        let milliseconds = UInt64(max(1, interval.wholeMilliseconds))
        uv_timer_start(
            timer,
            { handle in
                guard let data = handle?.pointee.data else { return }
                let ticker = Unmanaged<LoopTicker>.fromOpaque(data).takeUnretainedValue()
                withExtendedLifetime(ticker) { ticker.action() }
            }, milliseconds, milliseconds)
    }

    func stop() {
        guard let timer else { return }
        self.timer = nil
        timer.pointee.data = nil
        uv_close(UnsafeMutableRawPointer(timer).assumingMemoryBound(to: uv_handle_t.self)) { closed in
            closed.map { UnsafeMutableRawPointer($0).deallocate() }
        }
    }

    deinit { stop() }
}

/// Work on libuv's thread pool, whose result comes back to the loop.
enum LoopWork {
    private final class Job {
        let work: @Sendable () -> [UInt8]
        let done: ([UInt8]) -> Void
        var result: [UInt8] = []

        init(_ work: @escaping @Sendable () -> [UInt8], _ done: @escaping ([UInt8]) -> Void) {
            self.work = work
            self.done = done
        }
    }

    static func run(
        on loop: RedisLoop, _ work: @escaping @Sendable () -> [UInt8], _ done: @escaping ([UInt8]) -> Void
    ) {
        let request = UnsafeMutablePointer<uv_work_t>.allocate(capacity: 1)
        request.pointee.data = Unmanaged.passRetained(Job(work, done)).toOpaque()
        // The job is used on one thread at a time: the pool's, then the loop's.
        uv_queue_work(
            loop.uv, request,
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
}

/// Resolves a host's name without blocking the loop.
enum NameLookup {
    private final class Request {
        let done: (Result<String, CommandLogFault>) -> Void
        init(_ done: @escaping (Result<String, CommandLogFault>) -> Void) { self.done = done }
    }

    /// Whether the text is an IP address.
    static func isNumeric(_ host: String) -> Bool {
        var v4 = sockaddr_in()
        var v6 = sockaddr_in6()
        return uv_ip4_addr(host, 0, &v4) == 0 || uv_ip6_addr(host, 0, &v6) == 0
    }

    /// Finds the first IP address of a host.
    static func resolve(
        _ host: String, on loop: RedisLoop, _ done: @escaping (Result<String, CommandLogFault>) -> Void
    ) {
        let request = UnsafeMutablePointer<uv_getaddrinfo_t>.allocate(capacity: 1)
        let held = Unmanaged.passRetained(Request(done))
        request.pointee.data = held.toOpaque()
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        let outcome = uv_getaddrinfo(
            loop.uv, request,
            { request, status, found in
                guard let request, let data = request.pointee.data else { return }
                let held = Unmanaged<Request>.fromOpaque(data).takeRetainedValue()
                request.deallocate()
                defer { uv_freeaddrinfo(found) }
                held.done(Result { () throws(CommandLogFault) in try NameLookup.address(status, found) })
            }, host, nil, &hints)
        guard outcome != 0 else { return }
        held.release()
        request.deallocate()
        done(.failure(fault(outcome)))
    }

    private static func address(
        _ status: Int32, _ found: UnsafeMutablePointer<addrinfo>?
    ) throws(CommandLogFault) -> String {
        guard status == 0, let address = found?.pointee.ai_addr else { throw fault(status) }
        var text = [CChar](repeating: 0, count: 64)
        let outcome =
            if Int32(address.pointee.sa_family) == AF_INET6 {
                address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { uv_ip6_name($0, &text, text.count) }
            } else {
                address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { uv_ip4_name($0, &text, text.count) }
            }
        guard outcome == 0 else { throw fault(outcome) }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func fault(_ code: Int32) -> CommandLogFault {
        CommandLogFault(.unreachable, "the host's name cannot be resolved: \(String(cString: uv_strerror(code)))")
    }
}
