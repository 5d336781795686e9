import SignalingCore
import SignalingProtocol
import TestSupport

@testable import SignalingRedisCore

/// A session with the link of its Redis and the desk of the log. A step returns what it leaves there, in short.
final class SessionBench {
    static let follow = FollowID(session: "s", number: 1)
    static let run = RunID(1)

    var session = FollowedSession(follow, now: .seconds(100))
    var link: ShardLink
    var desk: LogDesk

    init() {
        link = ShardLink(shard: 0, redis: "redis://test", now: .seconds(100))
        link.courier.phase = .ready(.serving)
        desk = LogDesk(times: LogTimes(), run: Self.run, seed: 1, now: .seconds(100))
    }

    /// A followed session. The engine has all entries up to a number.
    static func followed(_ standing: FollowedSession.Standing, through number: UInt64 = 3) -> SessionBench {
        let bench = SessionBench()
        bench.session.stage = .followed
        bench.session.standing = standing
        if number > 0 {
            bench.session.inbox = ChannelInbox(
                generation: "g", position: position(number), time: .seconds(1), counters: [run: number])
        }
        return bench
    }

    static func opening(_ standing: FollowedSession.Standing) -> SessionBench {
        let bench = SessionBench()
        bench.session.standing = standing
        return bench
    }

    static func position(_ number: UInt64, run: RunID = run) -> LogPosition {
        LogPosition(number: number, id: CommandID(run: run, counter: number))
    }

    static func snapshot(_ number: UInt64) -> KeptSnapshot { KeptSnapshot(position: position(number), bytes: [1]) }

    /// An entry of another node.
    static func entry(_ number: UInt64, run: RunID = RunID(2)) -> ChannelEntry {
        ChannelEntry(position: position(number, run: run), time: .seconds(2), bytes: [UInt8(number)])
    }

    static func entries(_ numbers: ClosedRange<UInt64>) -> [CommandEntry] {
        numbers.map { CommandEntry(session: "s", position: position($0), time: .seconds(2), bytes: [UInt8($0)]) }
    }

    /// A command of this node that is not confirmed.
    func submit(_ counter: UInt64, freesMemory: Bool = false) {
        session.own.append(counter: counter, bytes: [7], freesMemory: freesMemory, now: desk.now)
        desk.inFlightByteCount += 1
    }

    func step(
        _ body: (inout FollowedSession, inout ShardLink, inout LogDesk) -> Void
    ) -> [String] {
        body(&session, &link, &desk)
        defer { desk.effects = [] }
        var texts = desk.effects.map(\.text)
        if let trouble = link.trouble { texts.append(trouble.text) }
        if case .ended(let reason?) = session.stage { texts.append("ended: \(reason)") }
        return texts
    }

    /// What a tick does, when it is time for everything.
    func attend() -> [String] {
        desk.now = desk.now.advanced(by: .seconds(1))
        return step {
            $0.attend(&$1, &$2)
            $0.proceed(&$1, &$2)
        }
    }

    var standing: String { "\(session.standing)" }
    /// Why nothing is kept.
    var refusal: CommandLogFault.Code? { link.refusal?.fault.code }
}

extension RedisLogEffect {
    /// In short, for comparisons.
    var text: String {
        switch self {
        case .connect(let shard): "connect \(shard)"
        case .disconnect(let shard): "disconnect \(shard)"
        case .call(_, let call): call.text
        case .subscribe(_, let sessions): "subscribe " + sessions.map(\.rawValue).joined(separator: " ")
        case .unsubscribe(_, let session): "unsubscribe \(session)"
        case .encode(_, let snapshot): "encode \(snapshot.position.number)"
        case .askForState(let follow): "ask for the state of \(follow.session)"
        case .report(let report, let session): "\(session) \(report.text)"
        case .reportLost(let run, _, let orphans): "lost \(run.rawValue), orphans \(orphans.map(\.rawValue))"
        case .reportContinues: "continues"
        case .confirmed: "latency"
        case .started(let fault): "started" + fault.suffix
        case .isolated(let isIsolated): isIsolated ? "isolated" : "not isolated"
        case .healthChanged(let fault): "health" + fault.suffix
        case .closed: "closed"
        case .note(let notice): "note \(notice.text)"
        }
    }
}

extension CommandLogFault? {
    fileprivate var suffix: String { map { ": \($0.code)" } ?? "" }
}

extension SessionReport {
    fileprivate var text: String {
        switch self {
        case .confirmed(let entries): "confirmed \(entries.map(\.position.number))"
        case .opened(let kept): "opened \(kept.snapshot?.position.number ?? 0) \(kept.entries.map(\.position.number))"
        case .caughtUp: "caught up"
        case .relayed: "relayed"
        case .dropped: "dropped"
        case .kept(let position, _): "kept \(position.number)"
        }
    }
}

extension RedisLogNotice {
    fileprivate var text: String {
        switch self {
        case .sessionDropped(let session, _): "dropped \(session)"
        case .sessionDamaged(let session): "damaged \(session)"
        case .linkLost: "link lost"
        case .declaredLost: "declared lost"
        case .stalled: "stalled"
        case .keepsAgain: "keeps again"
        }
    }
}

extension ShardLink.Trouble {
    fileprivate var text: String {
        switch self {
        case .mustGreet: "must greet"
        case .libraryMissing: "library missing"
        case .useless: "useless"
        }
    }
}

extension ShardCall {
    var text: String {
        switch self {
        case .hello(let caller, _): "hello \(caller.link)"
        case .loadLibrary: "load library"
        case .goodbye: "goodbye"
        case .declareLost(_, let run, _): "declare \(run.rawValue) lost"
        case .open: "open"
        case .restore(_, _, let restoration):
            "restore \(restoration.position.number)" + (restoration.snapshot == nil ? "" : " with snapshot")
        case .append(_, _, let appendix):
            (appendix.freesMemory ? "append freeing " : "append ") + "\(appendix.commands.map(\.counter))"
        case .keep(_, _, _, let snapshot, _): "keep \(snapshot.position.number)"
        case .forget(_, _, let number): "forget \(number)"
        case .sleep(_, let sleeper): "sleep \(sleeper.end.number)"
        case .remove(_, _, let end): "remove \(end.number)"
        case .close: "close"
        case .delete: "delete"
        case .repair: "repair"
        case .compare: "compare"
        case .catchUp: "catch up"
        case .fill(_, let first, let last): "fill \(first)...\(last.map(String.init) ?? "")"
        case .relay: "relay"
        }
    }
}

extension SessionID: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self.init(rawValue: value) }
}
