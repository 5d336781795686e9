import DequeModule
import SignalingProtocol

/// Sessions of which this node's copy cannot go on.
///
/// The clients of such a session are disconnected and come back. Then the session goes on where the log has it, or
/// clients learn that its order was lost. Before the copy goes, they get the events that it has: some are acknowledged
/// already. A command that was on its way has no outcome, since nobody knows whether the log has it.
extension ClusterEngine {
    public func log(dropped session: SessionID) {
        guard let hosted = sessions[session] else { return }
        report { drop(hosted) }
    }

    /// An entry is not the next one, or cannot be read.
    func noteUnexpected(_ entry: CommandEntry) {
        guard let hosted = sessions[entry.session] else { return }
        if hosted.node.isOpening { return openAgain(hosted) }
        log.close(entry.session)
        drop(hosted)
    }

    private func drop(_ hosted: Hosted) {
        if hosted.node.isOpening {
            // Its commands have not been appended.
            return openAgain(hosted)
        }
        observer?.engine(lost: hosted.id)
        salvage(hosted)
        forgetLocally(hosted)
        // The log may name connections whose sockets are closed now.
        let mustDetach = hosted.hasLoggedStep || hosted.state?.names(run) == true
        if !isStopping, mustDetach || !hosted.node.readers.isEmpty {
            let reopened = beginOpening(hosted.id)
            reopened.node.mustDetach = mustDetach
            reopened.node.readers = hosted.node.readers
        }
        answerSteps(of: hosted, unsent: sessions.removeUnsent(of: hosted.id))
    }

    /// The log may have lost the messages of the session that no archive has (HIS-3). If it has them, the archive gets
    /// them twice.
    private func salvage(_ hosted: Hosted) {
        if let unarchived = hosted.state?.unarchived { sessions.salvage(unarchived, of: hosted.id) }
    }

    private func answerSteps(of hosted: Hosted, unsent: Set<CommandID>) {
        for step in hosted.steps {
            switch step {
            case .logged(_, let id, let ticket?):
                observer?.engine(answered: ticket, .unavailable(mayBeCarriedOut: !unsent.contains(id)))
            case .logged(_, _, nil): break
            case .unlogged(_, let ticket): observer?.engine(answered: ticket, .unavailable(mayBeCarriedOut: false))
            }
        }
    }

    /// The other nodes see to the connections of the old run. This node only forgets.
    public func log(continuesAs newRun: RunID) {
        report { goOn(as: newRun) }
    }

    private func goOn(as newRun: RunID) {
        let unsent = sessions.goOn(as: newRun)
        let dropped = sessions.table.ordered.map(\.hosted)
        for hosted in dropped where !hosted.node.isOpening { observer?.engine(lost: hosted.id) }
        for hosted in dropped {
            salvage(hosted)
            forgetLocally(hosted)
            if hosted.node.isOpening || !hosted.node.readers.isEmpty {
                let reopened = beginOpening(hosted.id)
                reopened.node.waiting = hosted.node.waiting
                reopened.node.readers = hosted.node.readers
            }
        }
        for hosted in dropped where !hosted.node.isOpening { answerSteps(of: hosted, unsent: unsent) }
    }
}
