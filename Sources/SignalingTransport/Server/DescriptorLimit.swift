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
    /// The limit that ``raise(toward:)`` asks for: enough for all connections of one loop. libwebsockets allocates
    /// tables for every possible descriptor, so a limit of a billion, as some containers have, would cost gigabytes.
    public static let sufficient = 65_536

    /// The soft limit; 1024 if the system does not tell.
    public static var current: Int { Int(clamping: read()?.rlim_cur ?? 1024) }

    /// Raises the soft limit, as far as the hard limit permits, and never lowers it. Call it before the first
    /// ``LoopThread`` starts.
    ///
    /// - Returns: the soft limit from now on.
    @discardableResult
    public static func raise(toward wanted: Int = sufficient) -> Int {
        guard var limit = read() else { return current }
        let target = min(rlim_t(clamping: wanted), limit.rlim_max)
        guard target > limit.rlim_cur else { return current }
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
