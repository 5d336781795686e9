import CLibwebsockets

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

    /// The soft limit; 1024 if the system does not tell.
    public static var current: Int { Int(clamping: read()?.rlim_cur ?? 1024) }

    /// Raises the soft limit, as far as the hard limit permits, and never lowers it. Call it before the first
    /// ``LoopThread`` starts.
    ///
    /// - Returns: the soft limit from now on.
    @discardableResult
    public static func raise(toward wanted: Int = sufficient) -> Int { set(max(wanted, current)) }

    /// Raises or lowers the soft limit, as far as the hard limit permits. Call it before the first ``LoopThread``
    /// starts.
    ///
    /// libwebsockets has tables of every possible descriptor (``LoopContexts``). Some containers have limits of a million
    /// or a billion.
    ///
    /// - Returns: the soft limit from now on.
    @discardableResult
    public static func set(_ wanted: Int) -> Int {
        guard var limit = read() else { return current }
        let target = min(rlim_t(clamping: wanted), limit.rlim_max)
        guard target != limit.rlim_cur else { return current }
        limit.rlim_cur = target
        _ = setrlimit(resource, &limit)
        return current
    }

    /// Runs `body` with a lower soft limit. Other threads may open a few descriptors meanwhile.
    ///
    /// - Returns: nil if it was not run: so many descriptors are open that an open could fail.
    static func lowered<Result>(to count: Int, _ body: () -> Result?) -> Result? {
        let lowestFree = signalbox_open_nothing()
        signalbox_close(lowestFree)
        let before = current
        guard lowestFree >= 0, Int(lowestFree) < count / 2, set(min(count, before)) <= count else { return nil }
        defer { set(before) }
        return body()
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
