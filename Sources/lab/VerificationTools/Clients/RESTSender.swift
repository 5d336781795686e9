import Foundation
import JSONText
import SignalingProtocol
import SignalingTokens
import SignalingVerification
import Synchronization

/// A backend that signals to one session, ends connections of it, and acts as a moderator, through REST.
final class RESTSender: Sendable {
    private struct Notes {
        var steps: [ProgramRecord.Step] = []
        var sentCount = 0
        var acknowledgedCount = 0
    }

    let name: String
    private let sessionId: SessionID
    private let tap: WireTap
    private let start: ContinuousClock.Instant
    private let notes = Mutex(Notes())
    private let requests: BackendRequests

    init(name: String, project: Project, sessionId: SessionID, tap: WireTap, start: ContinuousClock.Instant) {
        self.name = name
        requests = BackendRequests(project: project)
        self.sessionId = sessionId
        self.tap = tap
        self.start = start
    }

    var program: ProgramRecord { ProgramRecord(name, steps: notes.withLock { $0.steps }) }
    var acknowledgedCount: Int { notes.withLock { $0.acknowledgedCount } }

    /// Sends a signal with unique data to all connections, or to one. Status 204 acknowledges it (REST-2).
    func send(to: ConnectionID?, port: Int) async {
        let number = notes.withLock { notes in
            notes.sentCount += 1
            return notes.sentCount
        }
        let data = "\(name)-\(number)"
        note(.sent(data))
        tap.judging { judge, _ in judge.sentByREST(data: data, type: "rest", to: to?.rawValue) }
        let path = to.map { "/connection/\($0.rawValue)/signal" } ?? "/signal"
        let status = await request("POST", path, body: #"{"type":"rest","data":"\#(data)"}"#, port: port)?.status
        switch status {
        case 204:
            // A signal to one connection is in the order, but only its receiver sees it, and it may be gone.
            if to == nil {
                tap.judging { judge, now in judge.acknowledgedByREST(data: data, in: sessionId.rawValue, at: now) }
            }
            notes.withLock { $0.acknowledgedCount += 1 }
        case .some: note(.answered(data, .refused))
        case nil: note(.answered(data, .unknown))
        }
    }

    /// Ends a connection.
    ///
    /// - Returns: whether the server has confirmed it.
    func forceDisconnect(_ connection: ConnectionID, port: Int) async -> Bool {
        let status = await request("DELETE", "/connection/\(connection.rawValue)", body: nil, port: port)?.status
        guard status == 204 else { return false }
        tap.judging { judge, now in judge.forceDisconnectedByREST(connection.rawValue, at: now) }
        return true
    }

    /// Erases messages (HIS-10).
    func erase(_ erasure: Erasure, port: Int) async {
        tap.judging { judge, _ in judge.mayBeErasedByREST(erasure, in: sessionId.rawValue) }
        let path =
            switch erasure {
            case .message(let seq): "/message/\(seq)"
            case .through(let seq): "/message?through=\(seq)"
            case .user(let user): "/message?user=" + Self.percentEncoded(user.rawValue)
            }
        _ = await request("DELETE", path, body: nil, port: port)
    }

    /// Foundation would encode some texts in another normal form.
    private static func percentEncoded(_ text: String) -> String {
        text.utf8.map { byte in
            let hex = String(byte, radix: 16, uppercase: true)
            return hex.count == 1 ? "%0\(hex)" : "%\(hex)"
        }.joined()
    }

    /// Reads the whole history, oldest message first (HIS-10).
    ///
    /// - Returns: whether each page came in time.
    func readHistory(of cluster: Cluster) async -> Bool {
        let deadline = ContinuousClock.now + Self.readTime
        var after = Int64(0)
        while ContinuousClock.now < deadline, !Task.isCancelled {
            let request = HistoryRequest(.after(Seq(after)), limit: 100)
            let asked = tap.judging { judge, now in judge.asksPageByREST(request, in: sessionId.rawValue, at: now) }
            let path = "/message?after=\(after)&limit=\(request.limit)"
            guard let answer = await self.request("GET", path, body: nil, port: cluster.somePort), answer.status == 200
            else {
                try? await Task.sleep(for: .milliseconds(100))
                continue
            }
            tap.judging { judge, now in judge.pageByREST(answer.body, for: asked, at: now) }
            let page = try? JSONValue(parsing: answer.body).objectValue
            guard page?["more"]?.boolValue == true,
                let last = page?["messages"]?.arrayValue?.last?.objectValue?["seq"]?.integerValue
            else { return page != nil }
            after = last
        }
        return false
    }
    private static let readTime = Duration.seconds(60)

    /// The answer to an action.
    enum Moderated: Equatable {
        case done(Seq)
        case refused(Int)
        /// The server may have carried it out.
        case unknown

        var seq: Seq? { if case .done(let seq) = self { seq } else { nil } }
    }

    /// Restricts a user or the session, or lifts a restriction (MOD-7).
    func moderate(_ action: ModerationRequest, port: Int) async -> Moderated {
        let body = action.body
        let asked = tap.judging { judge, now in judge.asksByREST(body, in: sessionId.rawValue, at: now) }
        guard let answer = await request("POST", "/moderation", body: body, port: port), let asked else {
            return .unknown
        }
        switch answer.status {
        case 200:
            guard let seq = try? JSONValue(parsing: answer.body).objectValue?["seq"]?.integerValue else {
                return .unknown
            }
            tap.judging { judge, now in judge.moderatedByREST(asked, seq: Int(seq), at: now) }
            return .done(Seq(seq))
        case 400..<500:
            tap.judging { judge, now in judge.moderatedByREST(asked, seq: nil, at: now) }
            return .refused(answer.status)
        default: return .unknown
        }
    }

    /// The actions that lift what holds in the session (MOD-7); nil without an answer that says so.
    func lifts(port: Int) async -> [ModerationRequest]? {
        guard let answer = await request("GET", "/moderation", body: nil, port: port) else { return nil }
        if answer.status == 404 { return [] }
        guard let restrictions = try? JSONValue(parsing: answer.body).objectValue?["restrictions"]?.arrayValue else {
            return nil
        }
        return restrictions.compactMap(\.objectValue).compactMap { restriction in
            guard let ref = restriction["ref"]?.integerValue else { return nil }
            switch restriction["kind"]?.stringValue {
            case "mute": return .unmute(.ref(Seq(ref)))
            case "ban": return .unban(.ref(Seq(ref)))
            case "freeze": return .unfreeze
            default: return nil
            }
        }
    }

    private func note(_ action: ProgramRecord.Action) {
        let now = MonotonicInstant(nanoseconds: start.duration(to: .now).wholeNanoseconds)
        notes.withLock { $0.steps.append(ProgramRecord.Step(now, action)) }
    }

    /// - Returns: nil without an answer.
    private func request(
        _ method: String, _ path: String, body: String?, port: Int
    ) async -> BackendRequests.Answer? {
        await requests.send(method, "/session/\(sessionId.rawValue)" + path, body: body, port: port)
    }
}

extension ModerationRequest {
    /// The body of a request by REST.
    fileprivate var body: String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("action", name)
        switch self {
        case .mute(let subject, let terms):
            subject.write(to: &writer)
            terms.write(to: &writer)
        case .ban(let subject, let terms, let erasesMessages):
            subject.write(to: &writer)
            terms.write(to: &writer)
            if erasesMessages { writer.member("eraseMessages", true) }
        case .unmute(.user(let user)), .unban(.user(let user)): writer.member("user", user.rawValue)
        case .unmute(.ref(let seq)), .unban(.ref(let seq)): writer.member("ref", seq.rawValue)
        case .freeze(let terms): terms.write(to: &writer)
        case .unfreeze: break
        }
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

extension ModerationRequest.Subject {
    fileprivate func write(to writer: inout JSONWriter) {
        switch self {
        case .user(let user): writer.member("user", user.rawValue)
        case .connection(let id): writer.member("connectionId", id.rawValue)
        }
    }
}

extension ModerationRequest.Terms {
    fileprivate func write(to writer: inout JSONWriter) {
        if let seconds { writer.member("seconds", seconds) }
        if let reason { writer.member("reason", reason) }
    }
}
