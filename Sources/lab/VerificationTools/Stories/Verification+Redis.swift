extension Verification {
    /// Does something to Redis, and waits until each session has acknowledged a signal again.
    ///
    /// What Redis has forgotten is put back only by a running node that has the session (LOG-31). So there is one for each
    /// session before, and no other fault hits it meanwhile.
    func harmRedis(
        on stage: Stage, _ kind: String, _ group: inout ThrowingTaskGroup<Void, any Error>,
        _ harm: @escaping @Sendable (Cluster) throws -> Void
    ) async throws {
        await confirmHosts(on: stage, &group)
        let begin = stage.elapsed
        let cluster = stage.cluster
        try await onOwnThread { try harm(cluster) }
        await confirmHosts(on: stage, &group)
        stage.mark(kind, since: begin, repeatsFeed: true)
    }
}
