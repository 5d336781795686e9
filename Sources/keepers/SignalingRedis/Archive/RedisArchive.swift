import EventLoop
import Logging
import SignalingCore
import SignalingProtocol
import SignalingRedisCore

/// The archive of several nodes, in the Redis that has their log: a sorted set for each session, which expires with its
/// newest message. The rules are in ``ArchiveState``; this class carries out what they decide.
///
/// It has connections of its own, so that a page does not hold up commands, and a fault here does not end the log's.
/// Confined to the loop's thread.
public final class RedisArchive: MessageArchive, MessageFeed, SleepingSessionList, RedisPortUser {
    /// The messages of one call of Redis, which does nothing else meanwhile.
    private static let callMessageCount = 128
    /// The entries of a feed in one call, each of which may have as many events.
    private static let callEntryCount = 32

    private var shards: [ArchiveState]
    /// Names this node as the one that posts a feed.
    private let node = String(UInt64.random(in: .min ... .max), radix: 16)
    private var answers: [Number: (Result<ArchiveAnswer, ArchiveFault>) -> Void] = [:]
    private var bounds: HistoryBounds
    private let port: any RedisPort
    private let logger: Logger
    private let projectOf: (SessionID) -> APIKey?
    /// The messages that Redis has removed to have room for those of this node.
    public private(set) var trimmedCount = 0
    private var lastTrimmed: MonotonicInstant?
    public var onAnnounced: ((SessionID) -> Void)?

    private struct Number: Hashable {
        let shard: Int
        let number: UInt64
    }

    /// An archive in the Redis of a log. It begins to connect.
    ///
    /// - Parameters:
    ///   - addresses: those of the log.
    ///   - projectOf: reads the project of a session.
    ///   - loop: the loop on whose thread this method, and all others, are called.
    package init(
        _ addresses: [RedisAddress], bounds: HistoryBounds, projectOf: @escaping (SessionID) -> APIKey? = { _ in nil },
        loop: EventLoop, logger: Logger, times: LogTimes = LogTimes()
    ) {
        shards = addresses.map { ArchiveState(redis: "\($0)", times: times, seed: .random(in: .min ... .max)) }
        self.bounds = bounds
        self.projectOf = projectOf
        self.logger = logger
        let links = RedisLinks(addresses, subscribes: false, loop: loop)
        port = links
        links.serve(self, tick: times.tick)
    }

    deinit { port.shutDown() }

    /// Gives up what is on its way. The state of the sessions still has what was to be written.
    public func close() {
        for shard in shards.indices { step(shard) { state, _ in state.close() } }
        answers = [:]
        port.shutDown()
    }

    // MARK: - MessageArchive

    /// Nodes share the archive, so this one does not know what is in it.
    public var isEmpty: Bool { false }
    public var byteCount: Int { 0 }
    public var messageCount: Int { 0 }
    public var fault: CommandLogFault? { shards.lazy.compactMap(\.fault).first }
    /// Several seconds pass until Redis surely has a batch, and a session has one batch on its way.
    public var largestBatchCount: Int { 8_192 }

    /// All steps have one proof, so that a moderator who erases often does not hold up the messages between. The state of
    /// the session still says what is erased: no page has it meanwhile.
    public func carryOut(
        _ steps: [ArchiveStep], of session: SessionID, answer: @escaping (Result<Void, ArchiveFault>) -> Void
    ) {
        let calls = steps.flatMap { self.calls($0, of: session) }
        if calls.isEmpty { return answer(.success(())) }
        ask(calls, of: session) { answer($0.map { _ in }) }
    }

    private func calls(_ step: ArchiveStep, of session: SessionID) -> [ArchiveCall] {
        switch step {
        case .append(let messages):
            stride(from: 0, to: messages.count, by: Self.callMessageCount).map { [project = projectOf(session)] start in
                .append(Array(messages[start...].prefix(Self.callMessageCount)), session, project)
            }
        case .put(let forms):
            stride(from: 0, to: forms.count, by: Self.callMessageCount).map { start in
                .put(Array(forms[start...].prefix(Self.callMessageCount)), session)
            }
        case .erase(let scope):
            switch scope.erasure {
            case .message, .through: [.erase(scope, session)]
            case .user: [.eraseOfUser(scope, after: .zero, session)]
            }
        case .announce(let entries):
            projectOf(session).map { calls(entries, of: session, in: $0) } ?? []
        }
    }

    public func append(
        _ messages: [ArchivedMessage], to session: SessionID, answer: @escaping (Result<Void, ArchiveFault>) -> Void
    ) {
        carryOut([.append(messages)], of: session, answer: answer)
    }

    public func put(
        _ forms: [ArchivedForm], of session: SessionID, answer: @escaping (Result<Void, ArchiveFault>) -> Void
    ) {
        carryOut([.put(forms)], of: session, answer: answer)
    }

    public func erase(
        _ erasure: ErasureScope, of session: SessionID, answer: @escaping (Result<Void, ArchiveFault>) -> Void
    ) {
        carryOut([.erase(erasure)], of: session, answer: answer)
    }

    public func page(
        _ request: HistoryRequest, of session: SessionID,
        answer: @escaping (Result<ArchivePage, ArchiveFault>) -> Void
    ) {
        ask([.page(request, session)], of: session) { result in
            answer(
                result.map {
                    if case .page(let page) = $0 { page } else { ArchivePage(range: nil, more: false, messages: []) }
                })
        }
    }

    public func lastSeq(of session: SessionID, answer: @escaping (Result<Seq?, ArchiveFault>) -> Void) {
        ask([.end(session)], of: session) { answer($0.map { if case .end(let seq) = $0 { seq } else { nil } }) }
    }

    /// Does nothing: the keys expire, and are trimmed where they are used. A sleeper expires with them.
    public func sweep(now: WallTime, answer: @escaping (Result<[SessionID], ArchiveFault>) -> Void) {
        answer(.success([]))
    }

    public func changeBounds(to new: HistoryBounds) { bounds = new }

    // MARK: - Feeds

    public var feed: any MessageFeed { self }
    public var pollInterval: Duration? { .milliseconds(100) }

    public func announce(
        _ entries: [FeedEntry], of session: SessionID, answer: @escaping (Result<Void, ArchiveFault>) -> Void
    ) {
        carryOut([.announce(entries)], of: session, answer: answer)
    }

    public func announce(
        _ entries: [FeedEntry], of session: SessionID, in feed: APIKey,
        answer: @escaping (Result<Void, ArchiveFault>) -> Void
    ) {
        ask(calls(entries, of: session, in: feed), of: session) { answer($0.map { _ in }) }
    }

    private func calls(_ entries: [FeedEntry], of session: SessionID, in feed: APIKey) -> [ArchiveCall] {
        stride(from: 0, to: entries.count, by: Self.callEntryCount).map { start in
            .announce(Array(entries[start...].prefix(Self.callEntryCount)), session, feed)
        }
    }

    /// The first Redis says which node posts a feed.
    public func claim(
        _ project: APIKey, for time: Duration, answer: @escaping (Result<FeedClaim, ArchiveFault>) -> Void
    ) {
        ask([.claim(project, node: node, time)], 0) { [weak self] result in
            switch result {
            case .failure(let fault): answer(.failure(fault))
            case .success(.claim(true)): self?.cursor(of: project) { answer($0.map { .granted(cursor: $0) }) }
            case .success: answer(.success(.taken))
            }
        }
    }

    /// A project has sessions in every Redis.
    public func read(
        _ project: APIKey, from start: FeedStart, limit: Int,
        answer: @escaping (Result<FeedReading, ArchiveFault>) -> Void
    ) {
        askAll {
            .feed(project, start.part($0, of: $1), limit: limit)
        } answer: { [weak self] result in
            answer(
                result.map { answers in
                    var parts: [FeedPart] = []
                    for (shard, answer) in answers.enumerated() {
                        if case .feed(let part?) = answer {
                            parts.append(part)
                        } else {
                            self?.ask([.resetFeed(project)], shard) { _ in }
                        }
                    }
                    return parts.count == answers.count ? FeedReading(merging: parts, from: start) : .gone
                })
        }
    }

    public func keepCursor(
        _ offset: FeedOffset, of project: APIKey, answer: @escaping (Result<Void, ArchiveFault>) -> Void
    ) {
        askAll {
            .keepCursor(offset.fitted(to: $1).parts[$0], project)
        } answer: {
            answer($0.map { _ in () })
        }
    }

    /// A Redis that has lost its part is read from its start.
    public func cursor(of project: APIKey, answer: @escaping (Result<FeedOffset?, ArchiveFault>) -> Void) {
        askAll { _, _ in
            .cursor(project)
        } answer: { result in
            answer(
                result.map { answers in
                    let parts: [Int64?] = answers.map { if case .cursor(let position) = $0 { position } else { nil } }
                    return parts.contains { $0 != nil } ? FeedOffset(parts.map { $0 ?? 0 }) : nil
                })
        }
    }

    /// Asks every Redis, and answers when all have answered, or with the fault of one.
    ///
    /// - Parameter call: gets the index of the Redis, and their number.
    private func askAll(
        _ call: (Int, Int) -> ArchiveCall, answer: @escaping (Result<[ArchiveAnswer], ArchiveFault>) -> Void
    ) {
        var results: [Int: Result<ArchiveAnswer, ArchiveFault>] = [:]
        for shard in shards.indices {
            ask([call(shard, shards.count)], shard) { [shardCount = shards.count] result in
                results[shard] = result
                guard results.count == shardCount else { return }
                answer(
                    Result { () throws(ArchiveFault) in
                        var answers: [ArchiveAnswer] = []
                        for (_, result) in results.sorted(by: { $0.key < $1.key }) { answers.append(try result.get()) }
                        return answers
                    })
            }
        }
    }

    // MARK: - Sleeping sessions

    /// Asks every Redis: a range has sessions of all of them.
    public func readSleepers(
        in range: Range<SessionID>, atMost count: Int,
        answer: @escaping (Result<SleepingSessions, SleepersUnread>) -> Void
    ) {
        var parts: [SleepingSessions?] = []
        for shard in shards.indices {
            ask([.sleepers(range, atMost: count)], shard) { [shardCount = shards.count] result in
                if case .success(.sleepers(let part)) = result {
                    // After a change of the list of addresses, a Redis may still have sessions that are another one's.
                    parts.append(part.where { JumpHash.bucket(of: $0, count: shardCount) == shard })
                } else {
                    parts.append(nil)
                }
                guard parts.count == shardCount else { return }
                let read = parts.compactMap { $0 }
                guard read.count == shardCount else { return answer(.failure(SleepersUnread())) }
                answer(.success(SleepingSessions(merging: read, atMost: count)))
            }
        }
    }

    // MARK: - The port's side

    package func tick() {
        for shard in shards.indices { step(shard) { $0.tick(now: $1) } }
    }

    package func receive(_ event: RedisLinkEvent, of shard: Int) {
        switch event {
        case .ready(let forgetsNothing): step(shard) { $0.linkReady(forgetsNothing: forgetsNothing, now: $1) }
        case .lost(let fault): step(shard) { $0.linkLost(fault, now: $1) }
        case .subscription, .message, .nodesMessage: break
        }
    }

    // MARK: - Carrying out

    private func ask(
        _ calls: [ArchiveCall], of session: SessionID, _ answer: @escaping (Result<ArchiveAnswer, ArchiveFault>) -> Void
    ) {
        // A session's history is in the Redis that has its log.
        ask(calls, JumpHash.bucket(of: session, count: shards.count), answer)
    }

    private func ask(
        _ calls: [ArchiveCall], _ shard: Int, _ answer: @escaping (Result<ArchiveAnswer, ArchiveFault>) -> Void
    ) {
        let number = shards[shard].ask(calls, now: port.now)
        answers[Number(shard: shard, number: number)] = answer
        carryOut(shard)
    }

    private func step(_ shard: Int, _ body: (inout ArchiveState, MonotonicInstant) -> Void) {
        body(&shards[shard], port.now)
        carryOut(shard)
    }

    private func carryOut(_ shard: Int) {
        for effect in shards[shard].takeEffects() {
            switch effect {
            case .connect: port.connect(shard)
            case .disconnect: port.disconnect(shard)
            case .loadLibrary: send(FunctionLibrary.loadCommand, shard) { $0.libraryLoaded($1.failure, now: $2) }
            case .send(let subject, let call):
                send(call.command(bounds), shard) { $0.answered(subject, ArchiveAnswer(to: call, $1), now: $2) }
            case .answer(let number, let result):
                answers.removeValue(forKey: Number(shard: shard, number: number))?(result)
            case .note(let fault?): logger.error("the history cannot be read or written at present: \(fault)")
            case .note(nil): logger.notice("the history is written again")
            case .announced(let session): onAnnounced?(session)
            case .trimmed(let count): noteTrimmed(count, shards[shard].redis)
            }
        }
        port.flush()
    }

    private func send(
        _ command: RedisCommand, _ shard: Int,
        _ answered: @escaping (inout ArchiveState, RedisReply, MonotonicInstant) -> Void
    ) {
        port.send([command], to: shard) { [weak self] replies in
            self?.step(shard) { answered(&$0, replies[0], $1) }
        }
    }

    /// One line for as long as Redis is full, and another one if that happens again.
    private func noteTrimmed(_ count: Int, _ redis: String) {
        trimmedCount += count
        let isNew = lastTrimmed.map { port.now.duration(since: $0) > .seconds(60) } ?? true
        lastTrimmed = port.now
        if isNew {
            logger.warning(
                "Redis uses 70 % of its maxmemory: the largest histories lose their oldest messages. Raise maxmemory.",
                metadata: ["redis": "\(redis)"])
        }
    }
}
