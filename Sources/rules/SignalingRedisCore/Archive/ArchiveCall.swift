import SignalingCore
import SignalingProtocol

/// What an archive asks one Redis.
package enum ArchiveCall {
    case append([ArchivedMessage], SessionID, APIKey?)
    case put([ArchivedForm], SessionID)
    case erase(ErasureScope, SessionID)
    /// Erases those of a user among ``ArchiveCall/erasedCount`` messages after this seq.
    case eraseOfUser(ErasureScope, after: Seq, SessionID)
    case page(HistoryRequest, SessionID)
    /// Asks for the greatest seq that the history ever had.
    case end(SessionID)
    /// Asks for sessions that sleep. At most ``ArchiveCall/sleeperCount`` are looked at.
    case sleepers(Range<SessionID>, atMost: Int)
    /// Adds to the feed of the session's project.
    case announce([FeedEntry], SessionID, APIKey)
    /// Reads a feed.
    case feed(APIKey, FeedPart.Start, limit: Int)
    /// Begins a feed anew, after another program has changed it.
    case resetFeed(APIKey)
    /// Keeps how far the receiver of a project has got. No write: a receiver can do with an older position, so there is no
    /// need of a proof.
    case keepCursor(Int64, APIKey)
    case cursor(APIKey)
    /// Lets a node post a feed for a while, unless another one does. Zero ends it.
    case claim(APIKey, node: String, Duration)
    /// Asks for the name of the process.
    case process

    /// Redis does nothing else meanwhile.
    static let erasedCount = 128
    static let sleeperCount = 500

    /// The rest of a call of which Redis has done the part up to this seq.
    func rest(after seq: Seq) -> ArchiveCall {
        switch self {
        case .eraseOfUser(let scope, _, let session): .eraseOfUser(scope, after: seq, session)
        case .append, .put, .erase, .page, .end, .sleepers, .announce, .feed, .resetFeed, .keepCursor, .cursor,
            .claim, .process:
            self
        }
    }

    /// Whether Redis must keep something.
    var isWrite: Bool {
        switch self {
        case .append, .put, .erase, .eraseOfUser, .announce: true
        case .page, .end, .sleepers, .feed, .resetFeed, .keepCursor, .cursor, .claim, .process: false
        }
    }

    private static func eraseOfUser(_ scope: ErasureScope, after seq: Seq, _ session: SessionID) -> RedisCommand {
        var command = RedisCommand(
            .archiveEraseUser, of: session, [String(scope.seq.rawValue)], extraCount: 3)
        command.add(scope.senderEnd ?? [])
        command.add(String(seq.rawValue))
        command.add(String(erasedCount))
        return command
    }

    package func command(_ bounds: HistoryBounds) -> RedisCommand {
        let age = String(bounds.age.wholeMilliseconds)
        switch self {
        case .append(let messages, let session, let project):
            var command = RedisCommand(
                .archiveAdd, of: session,
                [age, String(bounds.messageCount), String(bounds.byteCount), bounds.life, project?.rawValue ?? ""],
                extraCount: messages.count * 2)
            for message in messages {
                command.add(String(message.seq.rawValue))
                command.add(message.archived)
            }
            return command
        case .put(let forms, let session):
            var command = RedisCommand(
                .archivePut, of: session, [age, String(bounds.messageCount), String(bounds.byteCount)],
                extraCount: forms.count * 2)
            for form in forms {
                command.add(String(form.seq.rawValue))
                command.add(form.content)
            }
            return command
        case .erase(let scope, let session):
            switch scope.limited {
            case .message(let seq):
                return RedisCommand(.archiveErase, of: session, ["message", String(seq.rawValue)])
            case .through(let seq):
                return RedisCommand(.archiveErase, of: session, ["through", String(seq.rawValue)])
            // No message has the seq 0.
            case nil: return RedisCommand(.archiveErase, of: session, ["message", "0"])
            case .user: return Self.eraseOfUser(scope, after: .zero, session)
            }
        case .eraseOfUser(let scope, let seq, let session): return Self.eraseOfUser(scope, after: seq, session)
        case .page(let request, let session):
            let (kind, seq): (String, Seq) =
                switch request.position {
                // A list of changes is read as pages of one message (``ChangeList``).
                case .newest, .changedAfter: ("newest", .zero)
                case .before(let seq): ("before", seq)
                case .after(let seq): ("after", seq)
                }
            return RedisCommand(
                .archivePage, of: session,
                [age, kind, String(seq.rawValue), String(request.limit), String(Limits.historyPageByteCount)])
        case .end(let session): return RedisCommand(.archiveEnd, of: session, [])
        case .sleepers(let range, let count):
            return RedisCommand(
                .sleepers,
                [
                    range.lowerBound.rawValue, range.upperBound.rawValue, String(min(count, Self.sleeperCount)),
                    String(SleepingSessions.byteLimit),
                ])
        case .announce(let entries, let session, let project):
            var command = RedisCommand(
                .feedAdd, [project.rawValue, age, String(bounds.feedEntryCount), bounds.life, session.rawValue],
                extraCount: entries.count)
            for entry in entries { command.add(entry.encoded) }
            return command
        case .feed(let project, let start, let limit):
            return RedisCommand(
                .feedRead, [project.rawValue, age, start.kind, FeedPosition.text(start.position), String(limit)])
        case .resetFeed(let project): return RedisCommand(.feedReset, [project.rawValue])
        case .keepCursor(let position, let project):
            return RedisCommand(.feedCursor, [project.rawValue, FeedPosition.text(position)])
        case .cursor(let project): return RedisCommand(.feedCursor, [project.rawValue])
        case .claim(let project, let node, let time):
            return RedisCommand(.feedClaim, [project.rawValue, node, String(time.wholeMilliseconds)])
        case .process: return RedisCommand(.process)
        }
    }
}

extension HistoryBounds {
    /// The seconds that keys live.
    fileprivate var life: String { String(max(1, age.components.seconds)) }
}

/// Redis' answer to an ``ArchiveCall``.
package enum ArchiveAnswer {
    /// Redis has it, in the process of this name. Of an erasure of a user, what comes after this seq is still to be erased.
    /// To have room for messages, Redis has removed so many others.
    case stored(process: String, next: Seq? = nil, trimmedCount: Int = 0)
    case page(ArchivePage)
    case end(Seq?)
    case sleepers(SleepingSessions)
    /// `nil` if another program has changed the feed.
    case feed(FeedPart?)
    case cursor(Int64?)
    /// Whether the node may post the feed.
    case claim(Bool)
    case process(String)
    case failed(RedisFailure)
    case notUnderstood

    package init(to call: ArchiveCall, _ reply: RedisReply) {
        if let failure = reply.failure {
            self = .failed(failure)
            return
        }
        let answer: ArchiveAnswer? =
            switch call {
            case .append, .put, .erase, .eraseOfUser, .announce:
                reply[0].text == "stored"
                    ? reply[1].text.map {
                        .stored(process: $0, next: reply[2].seq, trimmedCount: Int(clamping: reply[3].number ?? 0))
                    } : nil
            case .process: reply[0].text == "process" ? reply[1].text.map { .process($0) } : nil
            case .page(let request, _): ArchivePage(reply, for: request).map { .page($0) }
            case .end: reply[0].text == "end" ? .end(reply[1].seq) : nil
            case .sleepers: SleepingSessions(reply).map { .sleepers($0) }
            case .feed, .resetFeed: reply[0].text == "feed" ? .feed(FeedPart(reply)) : nil
            case .keepCursor, .cursor: reply[0].text == "cursor" ? .cursor(reply[1].position) : nil
            case .claim: reply[0].text == "claim" ? .claim(reply[1].text == "granted") : nil
            }
        self = answer ?? .notUnderstood
    }
}

extension ArchivePage {
    /// `nil` if the reply is not that of the function.
    fileprivate init?(_ reply: RedisReply, for request: HistoryRequest) {
        guard reply[0].text == "page", let values = reply[4].array else { return nil }
        var messages: [ArchivedMessage] = []
        for value in values {
            guard let message = value.bytes.flatMap(ArchivedMessage.init(archived:)) else { return nil }
            messages.append(message)
        }
        switch request.position {
        case .newest, .before, .changedAfter: messages.reverse()
        case .after: break
        }
        var range: ClosedRange<Seq>?
        if let first = reply[1].seq, let last = reply[2].seq, first <= last { range = first...last }
        self.init(range: range, more: reply[3].number == 1, messages: messages)
    }
}

extension SleepingSessions {
    /// `nil` if the reply is not that of the function.
    fileprivate init?(_ reply: RedisReply) {
        guard reply[0].text == "sleepers", let last = reply[1].text, let values = reply[2].array else { return nil }
        var rows: [Row] = []
        for index in stride(from: 0, to: values.count - 1, by: 2) {
            guard let id = values[index].text, let state = values[index + 1].bytes else { return nil }
            rows.append(Row(id: SessionID(id), state: state))
        }
        self.init(rows: rows, next: last.isEmpty ? nil : SessionID(last))
    }
}

extension RedisReply {
    fileprivate var seq: Seq? { logNumber.map { Seq(Int64($0)) } }
}

extension ArchivedMessage {
    /// As Redis keeps it: the seq, the time, the bytes of the head, and whether it is erased, then a line feed, the head
    /// and the content.
    var archived: [UInt8] {
        let prefix = "\(seq.rawValue) \(time.milliseconds) \(head.count) \(content == nil ? 1 : 0)\n"
        return Array(prefix.utf8) + head + (content ?? [])
    }

    init?(archived bytes: [UInt8]) {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let fields = String(decoding: bytes[..<end], as: UTF8.self).split(separator: " ")
        guard fields.count == 4, let seq = LogNumber.read(fields[0]), let time = Int64(fields[1]),
            let headCount = Int(fields[2]), (0...(bytes.count - end - 1)).contains(headCount)
        else { return nil }
        let body = bytes[(end + 1)...]
        self.init(
            seq: Seq(Int64(seq)), time: WallTime(milliseconds: time), head: Array(body.prefix(headCount)),
            content: fields[3] == "1" ? nil : Array(body.dropFirst(headCount)))
    }
}
