import DequeModule
import SignalingProtocol

/// A session of an engine over a log: its state after the last entry of the log, and the commands on their way.
///
/// `Node` is what the engine itself knows of the session: ``NodeSession`` in a cluster, and otherwise nothing.
final class LoggedSession<Node>: HostedSession {
    /// A step in the order of submission.
    enum Step {
        /// In the log, or on the way there. The command is kept, so that the engine need not decode its own.
        case logged(LoggedCommand, CommandID, CommandTicket?)
        /// Changes nothing that lasts. It only waits for the steps before it.
        case unlogged(SessionCommand, CommandTicket)
    }

    /// What the command of an entry has done.
    struct Change {
        /// `nil` for a command without an outcome, and without a session.
        let outcome: SessionOutcome?
        let effects: [SessionEffect]
        /// Whether clients have something new to read.
        let hasChangedLog: Bool
    }

    let id: SessionID
    /// `nil` before the first entry and after the last.
    @exclusivity(unchecked) private(set) var state: SessionState? {
        didSet { detached.note(state?.detachedCount ?? 0) }
    }
    private var detached: DetachedShare
    /// Of the last entry; `nil` before the first.
    @exclusivity(unchecked) private(set) var position: LogPosition?
    /// The number of this run's commands to the session.
    @exclusivity(unchecked) private(set) var counter: UInt64 = 0
    @exclusivity(unchecked) private(set) var steps: Deque<Step> = []
    /// Whether the session exists once all submitted steps are carried out. A session that has ended meanwhile is begun
    /// again.
    @exclusivity(unchecked) var isOpen = false
    /// Whether an `advance` is on its way.
    @exclusivity(unchecked) var isAdvancing = false
    /// Whether this process's limits are on their way to the session.
    @exclusivity(unchecked) var isAdoptingLimits = false
    /// What the archive was told, until the log confirms it.
    @exclusivity(unchecked) private var batches = ArchivingBatches()
    /// After a fault of the archive: when to try again, in the log's time.
    private var archiveDelayedUntil: MonotonicInstant?
    /// When the archive was last told to erase something, in the log's time.
    private(set) var lastToldErasure: MonotonicInstant?
    /// Whether the log has commands with content that was erased since, and when it must forget them (HIS-9).
    @exclusivity(unchecked) private(set) var erasedContent = ErasedContent()
    private var pageReads = PageReads()
    /// The end of the order when this process opened the session, and the connections that have not come back since.
    private var inherited: (end: Seq, connections: Set<ConnectionID>)?
    /// A session that was woken does not sleep again before this moment, in the log's time.
    var staysAwakeUntil: MonotonicInstant?
    /// A session that is begun begins above this seq (HIS-3).
    var beginsAfter = Seq.zero
    @exclusivity(unchecked) var snapshots = SnapshotSchedule()
    var node: Node

    init(id: SessionID, node: Node, detached: DetachedTally) {
        self.id = id
        self.detached = DetachedShare(of: detached)
        self.node = node
        super.init()
    }

    override var log: SessionLog? { isHosted ? state?.log : nil }
    override var end: SessionLog.End? { isHosted ? state?.log.end : nil }
    override func byteCount(of seq: Seq) -> Int { state?.log.byteCount(of: seq) ?? 0 }

    override func ownReactions(of connection: ConnectionID, to refs: [Seq]) -> [OwnReactions] {
        state?.ownReactions(of: connection, to: refs) ?? []
    }

    // Of the state, without a copy of it.
    var hasState: Bool { state != nil }
    var isAsleep: Bool { state?.isAsleep ?? false }
    var hasUnarchived: Bool { state.map { !$0.unarchived.isEmpty } ?? false }
    var tellsUnread: Bool { state?.absentees.waitingSince != nil }
    var isNeeded: Bool { state?.isNeeded ?? false }

    /// Continues a kept session. The effects of its commands were caused when they were new.
    ///
    /// - Parameter time: of the log.
    func restore(_ kept: KeptCommands.Session, at time: MonotonicInstant) throws(CodingFault) {
        let replay = try SessionReplay(kept)
        (state, position, counter) = (replay.state, replay.position, kept.ownCounter)
        isOpen = state != nil
        inherited = state.map { ($0.log.lastSeq, $0.claimable) }
        // An earlier host of the session may not have lived until the log had forgotten the content.
        if replay.hasErased || state?.log.entries.contains(where: { $0.kind == .erasure }) ?? false {
            erasedContent.note(at: time)
        }
        for entry in kept.entries { snapshots.note(commandByteCount: entry.bytes.count) }
    }

    // MARK: - Renewal

    /// Whether a join proves that an earlier process went on behind the state that this one has opened: a client with a
    /// valid secret has an event that no process of this order has. Only its first return since the opening can prove it.
    /// So a client that lies ends an epoch once after a start, and never again.
    func isDisproved(by request: JoinRequest, at time: MonotonicInstant) -> Bool {
        guard let claim = request.resumption, let end = inherited?.end,
            inherited?.connections.contains(claim.connectionId) == true,
            state?.admits(claim, of: request, now: time) == true
        else { return false }
        inherited?.connections.remove(claim.connectionId)
        return claim.after > end
    }

    /// Begins a new epoch. The snapshot that the log must keep then says so.
    func renew(_ epoch: Epoch, at time: MonotonicInstant) -> Change {
        inherited = nil
        var effects: [SessionEffect] = []
        state?.renew(epoch, now: time, effects: &effects)
        return Change(outcome: nil, effects: effects, hasChangedLog: false)
    }

    func nextID(of run: RunID) -> CommandID {
        counter += 1
        return CommandID(run: run, counter: counter)
    }

    // MARK: - Steps

    func append(_ step: Step) { steps.append(step) }

    /// Whether a command is in the log, or on the way there, and not confirmed.
    var hasLoggedStep: Bool {
        steps.contains { step in
            if case .logged = step { true } else { false }
        }
    }

    /// Whether a `begin` is on its way.
    var isBeginning: Bool {
        steps.contains { step in
            if case .logged(.begin, _, _) = step { true } else { false }
        }
    }

    /// Whether a command on its way ends the use of a socket: its client has gone.
    func awaitsEnd(of socket: SocketID) -> Bool {
        steps.contains { step in
            switch step {
            case .logged(.session(.leave(let binding, _)), _, _), .logged(.session(.detach(let binding)), _, _):
                binding.socket == socket
            case .logged, .unlogged: false
            }
        }
    }

    /// Removes the first step if it is this run's command of the entry.
    func popStep(of id: CommandID) -> (LoggedCommand, CommandTicket?)? {
        guard case .logged(let command, id, let ticket)? = steps.first else { return nil }
        steps.removeFirst()
        return (command, ticket)
    }

    /// Removes the first step if it is not in the log.
    func popUnlogged() -> (SessionCommand, CommandTicket)? {
        guard case .unlogged(let command, let ticket)? = steps.first else { return nil }
        steps.removeFirst()
        return (command, ticket)
    }

    // MARK: - Entries

    /// - Returns: whether the entry is the next one.
    func advance(to new: LogPosition) -> Bool {
        guard new.isNext(after: position) else { return false }
        position = new
        return true
    }

    /// Carries out the command of the entry at ``position``.
    func carryOut(_ command: LoggedCommand, as entry: CommandEntry) -> Change {
        snapshots.note(commandByteCount: entry.bytes.count)
        let before = state?.log.mark ?? .beginning
        var effects: [SessionEffect] = []
        let (outcome, hasErased) = command.carryOut(on: &state, as: entry, effects: &effects)
        let after = state?.log.mark ?? before
        if hasErased { erasedContent.note(at: entry.time) }
        if let erasure = state?.unarchived.newestErasure { pageReads.note(erasure) }
        return Change(outcome: outcome, effects: effects, hasChangedLog: after != before)
    }

    /// Carries out a command that changes nothing that lasts.
    ///
    /// - Returns: `nil` for any other command, and without a session.
    func carryOutUnlogged(
        _ command: SessionCommand, at time: MonotonicInstant, effects: inout [SessionEffect]
    ) -> SessionOutcome? {
        state?.handleUnlogged(command, now: time, effects: &effects)
    }

    /// The read markers that wait for the log; `nil` without any.
    func takeMarkers() -> [ReadMarker]? {
        state?.markersDueAt == nil ? nil : state?.takeMarkers()
    }

    /// This run's command to the session has been carried out.
    func noteCarriedOut(_ command: LoggedCommand) {
        switch command {
        case .advance: isAdvancing = false
        case .archived(let seq): batches.archived(through: seq)
        case .changeLimits: isAdoptingLimits = false
        case .end: batches.removeAll()
        case .begin, .session, .nodeLost, .told, .marked: break
        }
    }

    // MARK: - The archive

    /// When the archive may be told again after a fault; `nil` if it may be told now.
    func archiveDelay(at time: MonotonicInstant) -> MonotonicInstant? {
        archiveDelayedUntil.flatMap { time < $0 ? $0 : nil }
    }

    /// What the archive was told, if more may follow before it answers.
    var toldForFeed: Seq? { state?.bounds.announces == true ? batches.told : nil }

    /// What to tell the archive now, with a number for the answer; `nil` if it must answer before, or has failed just now.
    func beginArchiving(
        _ largestCount: Int, at time: MonotonicInstant
    ) -> (number: UInt64, batch: Unarchived.Batch)? {
        guard archiveDelay(at: time) == nil, let state else { return nil }
        let announces = state.bounds.announces
        let told: Seq?
        switch batches.room(announces: announces) {
        case .nothing: return nil
        case .anything: told = nil
        case .additions(let seq): told = seq
        }
        guard
            let batch = state.unarchived.nextBatch(
                atMost: largestCount, announces: announces, additionsAfter: told, { $0.date })
        else { return nil }
        if batch.hasErasure { lastToldErasure = time }
        return (batches.begin(batch), batch)
    }

    /// - Returns: through which seq the archive has everything now, if that is news for the log.
    func archiveAnswered(_ number: UInt64) -> Seq? { batches.answered(number) }

    /// The archive is asked for a page.
    func beginReading() -> PageReads.Reading { pageReads.begin(after: state?.unarchived.lastErasure ?? .zero) }

    /// - Returns: what was erased since the page was asked for.
    func endReading(_ reading: PageReads.Reading) -> [ErasureScope] { pageReads.end(reading) }

    /// - Returns: false if the batch is to be told again already.
    func archiveFailed(_ number: UInt64, tryAgainAt moment: MonotonicInstant) -> Bool {
        guard batches.failed(number) else { return false }
        archiveDelayedUntil = moment
        return true
    }

    /// The snapshot that the log must keep now, if no other one is on its way.
    ///
    /// - Parameters:
    ///   - isWanted: whether the log asks for a snapshot of any size.
    ///   - time: of the log.
    func takeDueSnapshot(isWanted: Bool, at time: MonotonicInstant) -> CommandSnapshot? {
        guard let state, position != nil,
            snapshots.begin(
                isWanted: isWanted || erasedContent.isDue(at: time), waiting: state.unarchived.byteCount)
        else { return nil }
        defer { erasedContent.replaced(at: time) }
        return snapshot
    }

    /// The snapshot by which the log forgets erased content, before the session ends or the process stops: nobody would
    /// keep it later. `nil` if there is nothing to forget.
    func takeLastSnapshot(at time: MonotonicInstant) -> CommandSnapshot? {
        guard erasedContent.isPending, let snapshot else { return nil }
        erasedContent.replaced(at: time)
        return snapshot
    }

    /// As ``snapshot``, in the place of one at the same position.
    var renewedSnapshot: CommandSnapshot? {
        guard let state, let position else { return nil }
        return CommandSnapshot(session: id, position: position, replacesErased: true) { state.encoded() }
    }

    /// Why the session sleeps, if it does.
    var sleepReason: SleepReason {
        SleepReason(hasHistory: state?.hasHistory ?? false, restrictionsEnd: state?.restrictions.end)
    }

    /// The session as it is now, for the log; `nil` before the first entry and after the last.
    var snapshot: CommandSnapshot? {
        guard let state, let position else { return nil }
        return CommandSnapshot(session: id, position: position, replacesErased: erasedContent.isPending) {
            state.encoded()
        }
    }
}
