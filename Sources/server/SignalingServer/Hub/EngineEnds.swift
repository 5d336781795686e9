/// How much has ended in an engine since the last look, by its counts: sessions, and connections without a socket. Their
/// memory becomes free long after that of the sockets. A pure value.
///
/// A connection that is resumed counts, too: it costs nothing but a release of memory too many.
struct EngineEnds {
    private var sessionCount = 0
    private var detachedCount = 0

    /// - Returns: by how much the counts have fallen.
    mutating func note(sessionCount: Int, detachedCount: Int) -> Int {
        defer { (self.sessionCount, self.detachedCount) = (sessionCount, detachedCount) }
        return max(0, self.sessionCount - sessionCount) + max(0, self.detachedCount - detachedCount)
    }
}
