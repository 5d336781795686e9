import SignalingCore
import SignalingProtocol

/// An archive on a disk that is slow, and that refuses some writes and reads. What it has outlives the process.
final class SimulatedArchive: MessageArchive {
    private unowned let world: World
    private let disk: MemoryArchive
    /// Begins a turn of the process, if it still runs.
    var enter: (@escaping () -> Void) -> Void = { _ in }
    var hasFaults = true

    init(world: World, disk: MemoryArchive) {
        self.world = world
        self.disk = disk
    }

    /// Carries out some work later, and answers later still: a crash in between leaves the work without its answer.
    private func perform<Value>(
        _ answer: @escaping (Result<Value, ArchiveFault>) -> Void,
        _ work: @escaping (@escaping (Result<Value, ArchiveFault>) -> Void) -> Void
    ) {
        let fails = hasFaults && world.chance(5)
        // A write that fails may have been carried out.
        let isCarriedOut = !fails || world.chance(2)
        if fails { world.count("archive failed") }
        after { [self] in
            var result = Result<Value, ArchiveFault>.failure(ArchiveFault("the disk is full"))
            if isCarriedOut { work { result = fails ? result : $0 } }
            after { answer(result) }
        }
    }

    private func after(_ work: @escaping () -> Void) {
        let time = hasFaults && world.chance(6) ? 200...4_000 : 0...30
        world.schedule(after: world.milliseconds(time)) { [self] in enter(work) }
    }

    func append(
        _ messages: [ArchivedMessage], to session: SessionID, answer: @escaping (Result<Void, ArchiveFault>) -> Void
    ) {
        world.count("archived")
        perform(answer) { [disk, world] in
            world.note("archived \(messages.map(\.seq))")
            disk.append(messages, to: session, answer: $0)
        }
    }

    func put(_ forms: [ArchivedForm], of session: SessionID, answer: @escaping (Result<Void, ArchiveFault>) -> Void) {
        world.count("archived an edit")
        perform(answer) { [disk] in disk.put(forms, of: session, answer: $0) }
    }

    func page(
        _ request: HistoryRequest, of session: SessionID,
        answer: @escaping (Result<ArchivePage, ArchiveFault>) -> Void
    ) {
        perform(answer) { [disk] in disk.page(request, of: session, answer: $0) }
    }

    func erase(_ erasure: ErasureScope, of session: SessionID, answer: @escaping (Result<Void, ArchiveFault>) -> Void) {
        perform(answer) { [disk, world] in
            world.note("the archive erases \(erasure.erasure)")
            disk.erase(erasure, of: session, answer: $0)
        }
    }

    func lastSeq(of session: SessionID, answer: @escaping (Result<Seq?, ArchiveFault>) -> Void) {
        perform(answer) { [disk] in disk.lastSeq(of: session, answer: $0) }
    }

    func sweep(now: WallTime, answer: @escaping (Result<[SessionID], ArchiveFault>) -> Void) {
        perform(answer) { [disk] in disk.sweep(now: now, answer: $0) }
    }

    func changeBounds(to new: HistoryBounds) { disk.changeBounds(to: new) }
    var feed: any MessageFeed { disk }
    var isEmpty: Bool { disk.isEmpty }
    var byteCount: Int { disk.byteCount }
    var messageCount: Int { disk.messageCount }
}
