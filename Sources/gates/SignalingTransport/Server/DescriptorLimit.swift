import CLibwebsockets
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The process's limit of open files (`RLIMIT_NOFILE`).
public enum DescriptorLimit {
    /// The limit for a server without a maximum of its own: enough for all connections of one loop.
    public static let sufficient = 65_536

    /// Held while the limit is read or changed: two threads that lower it for a while at once would leave it low.
    private static let access = Mutex(())

    /// The soft limit; 1024 if the system does not tell.
    public static var current: Int { access.withLock { _ in softLimit } }

    /// Raises the soft limit, as far as the hard limit permits, and never lowers it. Call it before the first
    /// ``LoopThread`` starts.
    ///
    /// - Returns: the soft limit from now on.
    @discardableResult
    public static func raise(toward wanted: Int = sufficient) -> Int {
        access.withLock { _ in change(to: max(wanted, softLimit)) }
    }

    /// Raises or lowers the soft limit, as far as the hard limit permits. Call it before the first ``LoopThread``
    /// starts.
    ///
    /// libwebsockets has tables of every possible descriptor (``LoopContexts``). Some containers have limits of a million
    /// or a billion.
    ///
    /// - Returns: the soft limit from now on.
    @discardableResult
    public static func set(_ wanted: Int) -> Int { access.withLock { _ in change(to: wanted) } }

    /// Whether a server may lower the soft limit for a moment when it starts, for a short table of descriptors
    /// (``LoopContexts``), which makes connects cheaper. Set it where no other thread may need many descriptors at that
    /// moment. Default: false.
    public static var mayBeLowered: Bool {
        get { lowering.load(ordering: .relaxed) }
        set { lowering.store(newValue, ordering: .relaxed) }
    }

    private static let lowering = Atomic(false)

    /// Runs `body` with a lower soft limit, one call after the other, if that is permitted and other threads can open
    /// descriptors meanwhile: at least half of the lower ones must be free.
    static func withLowered(to count: Int, _ body: () -> Void) {
        guard mayBeLowered else { return }
        access.withLock { _ in
            let before = softLimit
            let freeCount = (0..<Int32(clamping: count)).count { fcntl($0, F_GETFD) < 0 }
            guard freeCount >= count / 2, change(to: min(count, before)) <= count else { return }
            defer { _ = change(to: before) }
            body()
        }
    }

    private static var softLimit: Int { Int(clamping: read()?.rlim_cur ?? 1024) }

    /// - Returns: the soft limit from now on.
    private static func change(to wanted: Int) -> Int {
        guard var limit = read() else { return softLimit }
        let target = min(rlim_t(clamping: wanted), limit.rlim_max)
        guard target != limit.rlim_cur else { return softLimit }
        limit.rlim_cur = target
        _ = setrlimit(resource, &limit)
        return softLimit
    }

    #if canImport(Glibc)
        private static var resource: __rlimit_resource_t { __rlimit_resource_t(RLIMIT_NOFILE.rawValue) }
    #else
        private static var resource: Int32 { Int32(RLIMIT_NOFILE) }
    #endif

    private static func read() -> rlimit? {
        var limit = rlimit()
        return getrlimit(resource, &limit) == 0 ? limit : nil
    }
}
