import CoreTestSupport
import SignalingProtocol
import TestSupport

@testable import SignalingCore

/// A session with a history whose members write and change, and the archive that is told.
struct ChangeRoom {
    var session: SessionState
    let archive: MemoryArchive
    private(set) var now = MonotonicInstant.seconds(1)
    var effects: [SessionEffect] = []
    private var requestCount: Int64 = 0

    /// - Parameter users: the names of members beside ada, the guest and the moderator: each has a user of its name.
    init(
        _ changes: Set<ChangeKind> = [.edit, .erase], signalRate: RateLimit? = nil,
        keeping types: KeptTypes = .only(["chat"]), readMarkers: ReadMarkers = .off, users: [String] = ["ada"]
    ) {
        var bounds = SessionState.Bounds(
            resumeWindow: .seconds(10), recoveryWindow: .seconds(10), signalRate: signalRate)
        bounds.history = types
        bounds.readMarkers = readMarkers
        bounds.changes = changes
        session = SessionState(id: room, epoch: Epoch("e"), bounds: bounds)
        archive = MemoryArchive()
        for name in users { join(name, user: UserID("u-\(name)")) }
        if !users.contains("bob") { join("bob") }
        join("guest")
        join("mod", .moderator)
    }

    mutating func join(_ name: String, _ role: Role = .publisher, user: UserID? = nil) {
        submit(
            .join(
                JoinRequest(
                    connectionId: client(name), role: role, data: "", user: user, wallTime: .init(milliseconds: 0))))
    }

    mutating func advance(to now: MonotonicInstant) {
        session.advance(to: now, effects: &effects)
        self.now = now
    }

    @discardableResult
    mutating func submit(_ command: SessionCommand) -> SessionOutcome {
        session.handle(command, now: now, effects: &effects)
    }

    mutating func nextSender(_ name: String) -> CommandSender {
        requestCount += 1
        return .connection(SocketBinding(client(name), socket1), RequestID(requestCount))
    }

    mutating func say(_ text: String, _ name: String = "ada", type: String = "chat") -> Seq {
        guard case .signalled(let seq?) = submit(.signal(nextSender(name), SignalRequest(type: type, data: text)))
        else {
            return .zero
        }
        return seq
    }

    mutating func edit(_ ref: Seq, _ text: String, _ name: String = "ada") -> SessionOutcome {
        submit(.change(nextSender(name), ChangeRequest(ref, .edit(data: text, isJSON: false))))
    }

    mutating func erase(_ ref: Seq, _ name: String = "ada") -> SessionOutcome {
        submit(.erase(nextSender(name), .message(ref)))
    }

    /// Tells the archive what waits. The state learns of it unless `confirms` is false.
    mutating func tell(confirms: Bool = true) {
        guard let batch = session.unarchived.nextBatch(atMost: 1_000, { $0.date }) else { return }
        archive.carryOut(batch.steps, of: room) { _ in }
        if confirms { session.archived(through: batch.last) }
    }

    /// The whole history, as a client reads it: `2 hello`, `2 hello v7`, `2 erased`.
    var page: [String] { read(HistoryRequest(.newest)).messages.map(\.short) }

    func read(_ request: HistoryRequest) -> ArchivePage {
        let unarchived = session.unarchived
        var found = ArchivePage(range: nil, more: false, messages: [])
        archive.page(unarchived.archiveRequest(for: request), of: room) { result in
            if case .success(let page) = result { found = unarchived.complete(page, for: request) { $0.date } }
        }
        return found
    }

    func changes(after seq: Seq, limit: Int = 50) -> ArchivePage {
        var found = ArchivePage(range: nil, more: false, messages: [])
        ChangeList(session.changeables, after: seq, atMost: limit)
            .read({ $1(.success(read($0))) }) { if case .success(let page) = $0 { found = page } }
        return found
    }
}

extension ArchivedMessage {
    var short: String {
        guard let content else { return "\(seq) erased" }
        let said = text(content).split(separator: #""data":""#).last?.split(separator: "\"").first ?? ""
        return "\(seq) \(said)" + (version.map { " v\($0)" } ?? "")
    }
}

extension SessionOutcome {
    var changed: Seq? { if case .changed(let seq) = self { seq } else { nil } }
    var erased: Seq? { if case .erased(let seq) = self { seq } else { nil } }
    var refusal: Int? { if case .refused(let error) = self { error.code.number } else { nil } }
}
