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

    /// - Parameter isOwnLoss: the log knows that this node is lost, and takes nothing more of it.
    func drop(_ hosted: Hosted, isOwnLoss: Bool = false) {
        if hosted.node.isOpening {
            // Its commands have not been appended.
            return openAgain(hosted)
        }
        observer?.engine(lost: hosted.id)
        forgetLocally(hosted)
        // The log may name connections whose sockets are closed now.
        let mustDetach = !isOwnLoss && (hosted.hasLoggedStep || hosted.state?.names(run) == true)
        let dropped = unarchived(of: hosted)
        if isStopping {
            salvage(dropped, of: hosted.id)
        } else if mustDetach || dropped != nil || !hosted.node.readers.isEmpty {
            let reopened = beginOpening(hosted.id)
            reopened.node.mustDetach = mustDetach
            reopened.node.dropped = dropped
            reopened.node.readers = hosted.node.readers.reopened
        }
        answerSteps(of: hosted, unsent: sessions.removeUnsent(of: hosted.id))
    }

    private func unarchived(of hosted: Hosted) -> (Unarchived, Epoch)? {
        guard let state = hosted.state, !state.unarchived.isEmpty else { return hosted.node.dropped }
        return (state.unarchived, state.epoch)
    }

    /// Tells the archive what a dropped copy had for it, when the log has told what became of the order (HIS-3): the log
    /// may have lost the messages. If it has them, the archive gets them twice.
    ///
    /// This node may have been cut off for long. Another one, which knew nothing of these messages, may have begun the
    /// session at the first seq meanwhile: then their seqs name others.
    func salvageDropped(of hosted: Hosted) {
        let dropped = hosted.node.dropped
        hosted.node.dropped = nil
        if let state = hosted.state, let dropped, state.epoch != dropped.epoch,
            state.log.lastSeq < dropped.unarchived.mark.advanced(by: SessionState.seqStep / 2)
        {
            return
        }
        salvage(dropped, of: hosted.id)
    }

    private func salvage(_ dropped: (unarchived: Unarchived, epoch: Epoch)?, of session: SessionID) {
        guard let unarchived = dropped?.unarchived, let archive = sessions.history.archive else { return }
        sessions.salvage(unarchived, of: session, atMost: archive.largestBatchCount)
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
            forgetLocally(hosted)
            let unarchived = unarchived(of: hosted)
            if hosted.node.isOpening || unarchived != nil || !hosted.node.readers.isEmpty {
                let reopened = beginOpening(hosted.id)
                reopened.node.dropped = unarchived
                reopened.node.waiting = hosted.node.waiting
                reopened.node.readers = hosted.node.readers.reopened
            }
        }
        for hosted in dropped where !hosted.node.isOpening { answerSteps(of: hosted, unsent: unsent) }
    }
}
