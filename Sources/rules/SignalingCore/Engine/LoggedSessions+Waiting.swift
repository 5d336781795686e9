import SignalingProtocol

/// What sessions have for the archive, when there is no time left to wait for its answers (HIS-3): at the end of a process,
/// for a backup, and before a log removes the sessions.
extension KeptCommands.Session {
    /// The steps that the archive may not have carried out, in their order; none for a session that cannot be read.
    /// Takes time in proportion to the session.
    public func waitingSteps(largestBatchCount: Int = 128) -> [ArchiveStep] {
        (try? SessionReplay(self).state?.waitingSteps(largestBatchCount)) ?? []
    }

    /// Whether the session may have messages in an archive, or waiting for one.
    public var hasHistory: Bool { (try? SessionReplay(self).state?.hasHistory) ?? false }
}

extension SessionState {
    fileprivate func waitingSteps(_ largestBatchCount: Int) -> [ArchiveStep] {
        var (rest, steps) = (unarchived, [ArchiveStep]())
        while let batch = rest.nextBatch(atMost: largestBatchCount, announces: bounds.announces, { $0.date }) {
            steps += batch.steps
            rest.archived(through: batch.last)
        }
        return steps
    }
}

extension LocalEngine {
    /// Names what waits in the sessions for the archive, which the next process would tell it. The process ends.
    ///
    /// - Parameter tell: is given the steps of one session. Returns false to be given no others.
    public func tellWaiting(_ tell: (SessionID, [ArchiveStep]) -> Bool) {
        for (session, hosted) in hostedSessions where hosted.hasUnarchived {
            guard let steps = hosted.state?.waitingSteps(128), tell(session, steps) else { return }
        }
    }
}
