import SignalingCore
import SignalingProtocol
import TestSupport
import Testing

/// Checks the guarantees of ``SessionEngine`` on any engine. Pass a factory: each promise is checked on a new engine.
///
/// Behaviour beyond these guarantees belongs to the engine's own tests.
package struct SessionEngineContract {
    /// A new engine, and a way to wait until it has reported everything about the submitted commands.
    package struct Subject {
        let engine: any SessionEngine
        let settle: () async throws -> Void

        package init(engine: any SessionEngine, settle: @escaping () async throws -> Void) {
            self.engine = engine
            self.settle = settle
        }
    }

    package enum Promise: String, CaseIterable, Sendable {
        case answersEachCommandOnceWithItsTicketInOrder
        case showsEventsInTheLogBeforeItReportsThem
        case reportsAChangeForEachEventAndForNothingElse
        case refusesCommandsToEmptySessions
        case refusalsChangeNothing
        case checksInTheSameOrderWithoutASession
        case keepsSessionsApart
        case keepsTheEpochWhileASessionHasConnections
        case listsConnectionsByCreationTime
        case reportsForceDisconnects
        case reportsOnlineOnlySignalsAndKeepsNone
        case acceptsCommandsFromACallback
        case reportsPresenceOnceAndInOrder
        case refusesActionsInASessionThatNeverWas
        case endsConnectionsByABanAndRefusesNewOnes
        case keepsRestrictionsWhileNobodyIsThere
        case reportsPresenceWhenItsSessionsEnd

        /// Those that hold where a log outlives the process: it hands the sessions on.
        package static let ofKeptLogs = allCases.filter { $0 != .reportsPresenceWhenItsSessionsEnd }
    }

    let make: () throws -> Subject

    package init(make: @escaping () throws -> Subject) { self.make = make }

    package func check(_ promise: Promise) async throws {
        let subject = try make()
        let recorder = Recorder(subject.engine)
        subject.engine.observer = recorder
        switch promise {
        case .answersEachCommandOnceWithItsTicketInOrder: try await answers(subject, recorder)
        case .showsEventsInTheLogBeforeItReportsThem: try await logFirst(subject, recorder)
        case .reportsAChangeForEachEventAndForNothingElse: try await changes(subject, recorder)
        case .refusesCommandsToEmptySessions: try await emptySession(subject, recorder)
        case .refusalsChangeNothing: try await refusals(subject, recorder)
        case .checksInTheSameOrderWithoutASession: try await checks(subject, recorder)
        case .keepsSessionsApart: try await apart(subject, recorder)
        case .keepsTheEpochWhileASessionHasConnections: try await epochs(subject, recorder)
        case .listsConnectionsByCreationTime: try await connections(subject, recorder)
        case .reportsForceDisconnects: try await forced(subject, recorder)
        case .reportsOnlineOnlySignalsAndKeepsNone: try await onlineOnly(subject, recorder)
        case .acceptsCommandsFromACallback: try await fromCallback(subject, recorder)
        case .reportsPresenceOnceAndInOrder: try await presence(subject, recorder)
        case .refusesActionsInASessionThatNeverWas: try await noSession(subject, recorder)
        case .endsConnectionsByABanAndRefusesNewOnes: try await ban(subject, recorder)
        case .keepsRestrictionsWhileNobodyIsThere: try await asleep(subject, recorder)
        case .reportsPresenceWhenItsSessionsEnd: try await endOfSessions(subject, recorder)
        }
    }

    /// The connections at present. Call it when the engine has settled, so that it answers at once.
    private func list(_ engine: any SessionEngine, _ session: SessionID) -> [Connection] {
        var listed: [Connection] = []
        engine.listConnections(of: session) { listed = $0 ?? [] }
        return listed
    }

    private func answers(_ subject: Subject, _ recorder: Recorder) async throws {
        recorder.join("ada")
        for number in 2...50 { recorder.submit(.signal(.connection(client("ada")), SignalRequest()), request: number) }
        recorder.submit(.signal(.connection(client("gone")), SignalRequest()), request: 51)
        recorder.submit(.leave(client("ada"), .clientDisconnected), request: nil)
        try await subject.settle()
        #expect(
            recorder.answers
                == ["1: joined ada at 1"] + (2...50).map { "\($0): signalled \($0)" }
                + ["51: refused 500 OT_NOT_CONNECTED", "-: done"])
        #expect(recorder.origins == Array(repeating: 7, count: 52))
    }

    private func logFirst(_ subject: Subject, _ recorder: Recorder) async throws {
        recorder.join("ada")
        recorder.submit(.signal(.connection(client("ada")), SignalRequest()), request: 2)
        recorder.submit(.leave(client("ada"), .clientDisconnected), request: 3)
        try await subject.settle()
        #expect(recorder.seqsAtAnswers == [1, 2, 3])
        #expect(recorder.seqsAtChanges == [1, 2, 3])
        #expect(recorder.order == ["answered", "changed", "answered", "changed", "answered", "changed"])
    }

    private func changes(_ subject: Subject, _ recorder: Recorder) async throws {
        recorder.join("ada")
        recorder.submit(.signal(.connection(client("ada")), SignalRequest(isOnlineOnly: true)), request: 2)
        recorder.submit(.signal(.connection(client("ada")), SignalRequest(type: "a b")), request: 3)
        recorder.submit(.leave(client("nobody"), .clientDisconnected), request: 4)
        recorder.submit(.leave(client("ada"), .clientDisconnected), request: 5)
        recorder.submit(.leave(client("ada"), .networkDisconnected), request: 6)
        try await subject.settle()
        #expect(recorder.seqsAtChanges == [1, 2])
    }

    private func emptySession(_ subject: Subject, _ recorder: Recorder) async throws {
        recorder.submit(.signal(.server, SignalRequest(data: "x")), request: 1)
        recorder.submit(.forceDisconnect(.server, client("ada")), request: 2)
        recorder.submit(.leave(client("ada"), .networkDisconnected), request: 3)
        recorder.submit(.signal(.connection(client("ada")), SignalRequest()), request: 4)
        recorder.submit(.forceDisconnect(.connection(client("ada")), client("bob")), request: 5)
        try await subject.settle()
        #expect(
            recorder.answers == [
                "1: refused 404 OT_NOT_FOUND", "2: refused 1011 OT_INVALID_PARAMETER", "3: done",
                "4: refused 500 OT_NOT_CONNECTED", "5: refused 1010 OT_NOT_CONNECTED",
            ])
        #expect(recorder.effects.isEmpty)
        #expect(recorder.seqsAtChanges.isEmpty)
        #expect(list(subject.engine, room).isEmpty)
    }

    private func refusals(_ subject: Subject, _ recorder: Recorder) async throws {
        recorder.join("ada", .publisherOnly)
        try await subject.settle()
        let before = subject.engine.withLog(of: room) { $0.lastSeq }
        recorder.submit(.signal(.connection(client("ada")), SignalRequest()), request: 2)
        recorder.submit(.forceDisconnect(.connection(client("ada")), client("ada")), request: 3)
        recorder.submit(.signal(.server, SignalRequest(to: client("bob"))), request: 4)
        recorder.join("ada", request: 5)
        try await subject.settle()
        #expect(
            recorder.answers.dropFirst() == [
                "2: refused 403 OT_PERMISSION_DENIED", "3: refused 1520 OT_PERMISSION_DENIED",
                "4: refused 404 OT_NOT_FOUND", "5: refused 1006 OT_CONNECT_FAILED",
            ])
        #expect(recorder.effects.isEmpty)
        #expect(subject.engine.withLog(of: room) { $0.lastSeq } == before)
        #expect(list(subject.engine, room).map(\.connectionId) == [client("ada")])
    }

    /// SIG-5 holds for a session with connections, one that has just become empty, and an unknown one.
    private func checks(_ subject: Subject, _ recorder: Recorder) async throws {
        let long = SignalRequest(
            type: "a b", data: String(repeating: "x", count: Limits.dataLength + 1), to: client(""))
        func ask() async throws -> [String] {
            recorder.forget()
            recorder.submit(.signal(.server, long), request: 1)
            recorder.submit(.signal(.server, SignalRequest(type: "a b")), request: 2)
            recorder.submit(.signal(.server, SignalRequest(to: client("bob"))), request: 3)
            recorder.submit(.signal(.connection(client("bob")), long), request: 4)
            try await subject.settle()
            return recorder.answers
        }
        let absent = try await ask()
        #expect(
            absent == [
                "1: refused 413 OT_INVALID_PARAMETER", "2: refused 400 OT_INVALID_PARAMETER",
                "3: refused 404 OT_NOT_FOUND", "4: refused 500 OT_NOT_CONNECTED",
            ])
        recorder.join("ada")
        try await subject.settle()
        #expect(try await ask() == absent)
        recorder.submit(.leave(client("ada"), .clientDisconnected), request: nil)
        try await subject.settle()
        #expect(try await ask() == absent)
        subject.engine.advance(to: .seconds(0))
        #expect(try await ask() == absent)
    }

    private func apart(_ subject: Subject, _ recorder: Recorder) async throws {
        let other = SessionID("1_other")
        recorder.join("ada")
        recorder.join("bob", in: other, request: 2)
        recorder.submit(.signal(.connection(client("ada")), SignalRequest(to: client("bob"))), request: 3)
        recorder.submit(.forceDisconnect(.server, client("bob")), request: 4)
        recorder.submit(.signal(.connection(client("ada")), SignalRequest()), in: other, request: 5)
        try await subject.settle()
        // Sessions have no order among each other.
        let answers = ["1: joined ada at 1", "3: refused 404 OT_NOT_FOUND", "4: refused 1011 OT_INVALID_PARAMETER"]
        let others = ["2: joined bob at 1", "5: refused 500 OT_NOT_CONNECTED"]
        #expect(recorder.answers.filter { !others.contains($0) } == answers)
        #expect(recorder.answers.filter { !answers.contains($0) } == others)
        #expect(list(subject.engine, room).map(\.connectionId) == [client("ada")])
        #expect(list(subject.engine, other).map(\.connectionId) == [client("bob")])
        #expect(Set(recorder.epochs).count == 2, "each session has an epoch of its own")
    }

    private func epochs(_ subject: Subject, _ recorder: Recorder) async throws {
        recorder.join("ada")
        recorder.join("bob", request: 2)
        recorder.submit(.leave(client("ada"), .clientDisconnected), request: 3)
        try await subject.settle()
        subject.engine.advance(to: .seconds(0))
        recorder.join("eve", request: 4)
        try await subject.settle()
        #expect(Set(recorder.epochs).count == 1)
        #expect(recorder.answers.last == "4: joined eve at 4")
    }

    private func connections(_ subject: Subject, _ recorder: Recorder) async throws {
        for (index, name) in ["dora", "carl", "bert", "anna"].enumerated() { recorder.join(name, request: index + 1) }
        recorder.submit(.leave(client("carl"), .clientDisconnected), request: nil)
        recorder.join("carl", request: 5)
        try await subject.settle()
        let all = list(subject.engine, room)
        #expect(all.map(\.connectionId.rawValue) == ["dora", "bert", "anna", "carl"])
        #expect(zip(all, all.dropFirst()).allSatisfy { $0.creationTime < $1.creationTime })
    }

    private func forced(_ subject: Subject, _ recorder: Recorder) async throws {
        recorder.join("mod", .moderator)
        recorder.join("bob", request: 2)
        recorder.submit(.forceDisconnect(.connection(client("mod")), client("bob")), request: 3)
        recorder.submit(.forceDisconnect(.connection(client("mod")), client("mod")), request: 4)
        try await subject.settle()
        #expect(recorder.answers.suffix(2) == ["3: force-disconnected", "4: force-disconnected"])
        #expect(recorder.effects == ["ended bob forceDisconnected", "ended mod forceDisconnected"])
        #expect(recorder.order.suffix(6) == ["answered", "caused", "changed", "answered", "caused", "changed"])
    }

    private func onlineOnly(_ subject: Subject, _ recorder: Recorder) async throws {
        recorder.join("ada")
        recorder.submit(
            .signal(.connection(client("ada")), SignalRequest(type: "typing", isOnlineOnly: true)), request: 2)
        try await subject.settle()
        #expect(recorder.answers.last == "2: signalled")
        #expect(recorder.effects == [#"online-only after 1: {"ev":"signal","from":"ada","type":"typing"}"#])
        #expect(subject.engine.withLog(of: room) { $0.lastSeq } == Seq(1))
    }

    private func presence(_ subject: Subject, _ recorder: Recorder) async throws {
        recorder.join("mod", .moderator)
        recorder.join("bob", request: 2)
        recorder.join("bob", request: 3)
        recorder.submit(.leave(client("nobody"), .clientDisconnected), request: nil)
        recorder.submit(.forceDisconnect(.connection(client("mod")), client("bob")), request: 4)
        recorder.submit(.leave(client("bob"), .networkDisconnected), request: nil)
        recorder.submit(.leave(client("mod"), .clientDisconnected), request: nil)
        try await subject.settle()
        subject.engine.advance(to: .seconds(0))
        subject.engine.advance(to: .seconds(0))
        recorder.join("eve")
        try await subject.settle()
        #expect(
            recorder.presence == [
                "sessionCreated", "connectionCreated mod", "connectionCreated bob",
                "connectionDestroyed bob forceDisconnected", "connectionDestroyed mod clientDisconnected",
                "sessionDestroyed", "sessionCreated", "connectionCreated eve",
            ])
    }

    // MARK: - Moderation

    private func moderate(
        _ request: ModerationRequest, by sender: CommandSender = .server, _ recorder: Recorder, request id: Int
    ) {
        recorder.submit(.moderate(sender, request, Acceptance(date: WallTime(milliseconds: 5))), request: id)
    }

    /// What REST reads. Call it when the engine has settled, so that it answers at once.
    private func read(_ subject: Subject) -> [String]? {
        var reading: ModerationReading?
        subject.engine.readModeration(of: room, now: .seconds(0)) { reading = $0 }
        switch reading {
        case .report(let report)?:
            return report.restrictions.map(\.testDescription)
                + report.actions.map { "\($0.seq) \($0.event.action.name)" }
        case .absent?: return nil
        case .unavailable?, nil:
            Issue.record("the engine does not answer")
            return nil
        }
    }

    private func noSession(_ subject: Subject, _ recorder: Recorder) async throws {
        moderate(.freeze(), recorder, request: 1)
        moderate(.ban(.user("u")), by: .connection(client("ada")), recorder, request: 2)
        recorder.submit(.restrictions(SocketBinding(client("ada"), socket1)), request: 3)
        try await subject.settle()
        #expect(
            recorder.answers == [
                "1: refused 404 OT_NOT_FOUND", "2: refused 1010 OT_NOT_CONNECTED", "3: refused 1010 OT_NOT_CONNECTED",
            ])
        #expect(read(subject) == nil)
        #expect(recorder.seqsAtChanges.isEmpty)
    }

    private func ban(_ subject: Subject, _ recorder: Recorder) async throws {
        recorder.join("mod", .moderator)
        recorder.join("bob", user: "u", request: 2)
        recorder.join("bea", user: "u", request: 3)
        moderate(.ban(.user("u")), by: .connection(client("mod")), recorder, request: 4)
        recorder.join("new", user: "u", request: 5)
        recorder.submit(.restrictions(SocketBinding(client("mod"), socket1)), request: 6)
        try await subject.settle()
        #expect(
            recorder.answers.suffix(3) == [
                "4: moderated 4 user u", "5: refused 1570 OT_USER_BANNED", #"6: restrictions ["4 ban user u"]"#,
            ])
        #expect(
            recorder.effects == [
                "ended bob forceDisconnected because of a ban", "ended bea forceDisconnected because of a ban",
            ])
        #expect(list(subject.engine, room).map(\.connectionId.rawValue) == ["mod"])
        #expect(read(subject) == ["4 ban user u", "4 ban"])
    }

    /// MOD-9: it sleeps instead of ending.
    private func asleep(_ subject: Subject, _ recorder: Recorder) async throws {
        recorder.join("ada")
        moderate(.freeze(), recorder, request: 2)
        recorder.submit(.leave(client("ada"), .clientDisconnected), request: 3)
        try await subject.settle()
        subject.engine.advance(to: .seconds(0))
        try await subject.settle()
        #expect(read(subject) == ["2 freeze session", "2 freeze"])
        recorder.join("bob", request: 4)
        recorder.submit(.signal(.connection(client("bob")), SignalRequest()), request: 5)
        recorder.submit(.leave(client("bob"), .clientDisconnected), request: 6)
        try await subject.settle()
        subject.engine.advance(to: .seconds(0))
        try await subject.settle()
        #expect(recorder.answers.suffix(3) == ["4: joined bob at 5", "5: refused 403 OT_PERMISSION_DENIED", "6: done"])
        #expect(Set(recorder.epochs).count == 1)
        moderate(.unfreeze, recorder, request: 7)
        try await subject.settle()
        subject.engine.advance(to: .seconds(0))
        try await subject.settle()
        #expect(recorder.answers.last == "7: moderated 7 session")
        // Its answer comes behind the end of the session.
        recorder.submit(.signal(.server, SignalRequest()), request: 8)
        try await subject.settle()
        #expect(recorder.answers.last == "8: refused 404 OT_NOT_FOUND")
        #expect(read(subject) == nil, "nothing keeps it any more")
    }

    private func endOfSessions(_ subject: Subject, _ recorder: Recorder) async throws {
        let otherRoom = SessionID("1_other")
        recorder.join("ada")
        recorder.join("bob", request: 2)
        recorder.join("eve", in: otherRoom, request: 3)
        try await subject.settle()
        subject.engine.endSessions()
        subject.engine.advance(to: .seconds(0))
        recorder.submit(.leave(client("ada"), .clientDisconnected), request: nil)
        try await subject.settle()
        #expect(
            recorder.presence.suffix(5).filter { !$0.contains(otherRoom.rawValue) } == [
                "connectionDestroyed ada networkDisconnected", "connectionDestroyed bob networkDisconnected",
                "sessionDestroyed",
            ])
        #expect(recorder.presence.suffix(5).contains("\(otherRoom): sessionDestroyed"))
        #expect(list(subject.engine, room).isEmpty)
    }

    /// The reports of two commands never mix, even if the second is submitted from a callback about the first.
    private func fromCallback(_ subject: Subject, _ recorder: Recorder) async throws {
        recorder.join("mod", .moderator)
        recorder.join("bob", request: 2)
        try await subject.settle()
        recorder.forget()
        recorder.uponAnswer = { ticket, recorder in
            if ticket.request == RequestID(3) {
                recorder.submit(.signal(.connection(client("mod")), SignalRequest(isOnlineOnly: true)), request: 4)
            }
        }
        recorder.submit(.forceDisconnect(.connection(client("mod")), client("bob")), request: 3)
        try await subject.settle()
        #expect(recorder.answers == ["3: force-disconnected", "4: signalled"])
        #expect(recorder.order == ["answered", "caused", "changed", "answered", "caused"])
        #expect(recorder.effects.first == "ended bob forceDisconnected")
        #expect(recorder.effects.last?.hasPrefix("online-only after 3:") == true)
    }
}

/// Records the reports of an engine.
private final class Recorder: SessionEngineObserver {
    private let engine: any SessionEngine
    private(set) var answers: [String] = []
    private(set) var origins: [UInt64] = []
    private(set) var epochs: [Epoch] = []
    /// All effects but presence.
    private(set) var effects: [String] = []
    private(set) var presence: [String] = []
    private(set) var order: [String] = []
    private(set) var seqsAtAnswers: [Int64] = []
    private(set) var seqsAtChanges: [Int64] = []
    var uponAnswer: ((CommandTicket, Recorder) -> Void)?

    init(_ engine: any SessionEngine) { self.engine = engine }

    func submit(_ command: SessionCommand, in session: SessionID = room, request: Int?) {
        let ticket = CommandTicket(origin: 7, request: request.map { RequestID(Int64($0)) })
        engine.submit(command, to: session, ticket: ticket)
    }

    func join(
        _ name: String, _ role: Role = .publisher, user: UserID? = nil, in session: SessionID = room, request: Int = 1
    ) {
        let join = JoinRequest(
            connectionId: client(name), role: role, data: "", user: user, wallTime: WallTime(milliseconds: 5))
        submit(.join(join), in: session, request: request)
    }

    func forget() { (answers, origins, effects, order, seqsAtAnswers, seqsAtChanges) = ([], [], [], [], [], []) }

    func engine(answered ticket: CommandTicket, _ outcome: SessionOutcome) {
        answers.append("\(ticket.request?.description ?? "-"): \(outcome.testDescription)")
        origins.append(ticket.origin)
        if case .joined(let join) = outcome { epochs.append(join.epoch) }
        seqsAtAnswers.append(engine.withLog(of: room) { $0.lastSeq.rawValue } ?? -1)
        order.append("answered")
        uponAnswer?(ticket, self)
    }

    func engine(sessionChanged session: SessionID) {
        seqsAtChanges.append(engine.withLog(of: session) { $0.lastSeq.rawValue } ?? -1)
        order.append("changed")
    }

    func engine(lost session: SessionID) { order.append("lost") }

    func engine(_ session: SessionID, caused effect: SessionEffect) {
        if case .presence = effect {
            presence.append("\(session == room ? "" : "\(session): ")\(effect.testDescription)")
            return
        }
        effects.append(effect.testDescription)
        order.append("caused")
    }
}
