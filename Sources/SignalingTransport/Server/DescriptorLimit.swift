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
    /// libwebsockets has a table of every possible descriptor. Debian's 4.1.6 is built with assertions and walks all of
    /// it when a connection closes: 1 ns per descriptor. Some containers have limits of a million or a billion.
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
