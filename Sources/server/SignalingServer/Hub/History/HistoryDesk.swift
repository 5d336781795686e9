import SignalingCore
import SignalingProtocol
import SignalingTokens

/// Reads pages of history for clients and for REST. Requests for the same page share one read, and the newest page is
/// read at most once a second while nothing is added: when a server has restarted, all clients of a room ask for it
/// (HIS-7).
///
/// Confined to the loop.
final class HistoryDesk {
    private struct Key: Hashable {
        let session: SessionID
        let request: HistoryRequest
        /// What the history had at the time of the request: a later message must not be missing in its page.
        let mark: Seq?
    }

    /// How often pages were asked for, for metrics.
    struct Counts {
        var read = 0
        var shared = 0
        var failed = 0
    }

    private(set) var counts = Counts()

    typealias Answer = (Result<PageBytes, SignalingError>) -> Void

    private let engine: any SessionEngine
    private var underWay: [Key: [Answer]] = [:]
    /// The newest pages, the oldest first.
    private var recent: [(key: Key, page: PageBytes, until: MonotonicInstant)] = []
    private static let recentCount = 64
    private static let recentTime = Duration.seconds(1)

    init(engine: any SessionEngine) { self.engine = engine }

    /// Reads a page, or shares one that has been read since the history changed last, on any node.
    ///
    /// - Parameter last: a later message is not in the page (HIS-5).
    func read(
        _ request: HistoryRequest, of session: SessionID, upTo last: Seq? = nil, now: MonotonicInstant,
        answer: @escaping Answer
    ) {
        // The operator may have switched it off since the client connected (HIS-8).
        guard engine.keepsHistory(session) else { return answer(.failure(.noHistory)) }
        var key = Key(session: session, request: request, mark: nil)
        engine.readHistory(
            request, of: session,
            unless: { [weak self] mark in
                key = Key(session: session, request: request, mark: mark)
                return self?.share(key, now) { [weak self] result in
                    self?.answer(result, request, of: session, upTo: last, now, answer)
                } ?? true
            },
            answer: { [weak self] result in self?.finish(key, result, now) })
    }

    /// Lets a request wait for its page.
    ///
    /// - Returns: false if nobody reads the page yet.
    private func share(_ key: Key, _ now: MonotonicInstant, answer: @escaping Answer) -> Bool {
        recent.removeAll { $0.until <= now }
        if key.mark != nil, let page = recent.first(where: { $0.key == key })?.page {
            counts.shared += 1
            answer(.success(page))
            return true
        }
        underWay[key, default: []].append(answer)
        if underWay[key]?.count == 1 { return false }
        counts.shared += 1
        return true
    }

    /// The newest page is shared although it may reach too far for one of those who asked: that one reads its own.
    private func answer(
        _ result: Result<PageBytes, SignalingError>, _ request: HistoryRequest, of session: SessionID,
        upTo last: Seq?, _ now: MonotonicInstant, _ answer: @escaping Answer
    ) {
        guard case .success(let page) = result, let last, let end = page.source.messages.last?.seq, end > last else {
            return answer(result)
        }
        switch request.position {
        case .newest, .before:
            read(HistoryRequest(.before(last.next), limit: request.limit), of: session, now: now, answer: answer)
        case .after: answer(.success(PageBytes(page.source.through(last))))
        // No connect asks for it.
        case .changedAfter: answer(result)
        }
    }

    private func finish(_ key: Key, _ result: Result<ArchivePage, ArchiveFault>, _ now: MonotonicInstant) {
        let answers = underWay.removeValue(forKey: key) ?? []
        let page = result.map(PageBytes.init).mapError { _ in SignalingError.historyUnreadable }
        if case .success(let page) = page, key.mark != nil, case .newest = key.request.position {
            if recent.count >= Self.recentCount { recent.removeFirst() }
            recent.append((key, page, now.advanced(by: Self.recentTime)))
        }
        switch page {
        case .success: counts.read += 1
        case .failure: counts.failed += 1
        }
        for answer in answers { answer(page) }
    }
}

/// A page of history, encoded once for all who asked for it.
struct PageBytes: Sendable {
    let source: ArchivePage
    /// The members of `history` without `ev` and `id`.
    let members: [UInt8]

    init(_ page: ArchivePage) {
        source = page
        var bytes: [UInt8] = []
        bytes.reserveCapacity(page.messages.reduce(96) { $0 + $1.byteCount + 1 })
        if let range = page.range {
            bytes.append(contentsOf: #""first":\#(range.lowerBound),"last":\#(range.upperBound),"#.utf8)
        }
        bytes.append(contentsOf: #""more":\#(page.more),"#.utf8)
        if let changes = page.changes {
            bytes.append(contentsOf: #""changedThrough":\#(changes.through),"#.utf8)
            if changes.isAll { bytes.append(contentsOf: #""all":true,"#.utf8) }
        }
        bytes.append(contentsOf: #""messages":["#.utf8)
        for (index, message) in page.messages.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            message.append(to: &bytes)
        }
        bytes.append(UInt8(ascii: "]"))
        members = bytes
    }

    /// The answer to a client's request (HIS-6).
    ///
    /// - Parameter mine: the reactions of its user to the page's messages (CHG-13).
    func line(answering id: RequestID, mine: [OwnReactions] = []) -> EncodedLine {
        let start = Array(#"{"ev":"history","id":\#(id),"#.utf8)
        return EncodedLine(bytes: start + members + OwnReactions.encode(mine) + [UInt8(ascii: "}")], insertion: nil)
            ?? .nothing
    }

    /// The body of an answer by REST (HIS-10).
    var body: [UInt8] { [UInt8(ascii: "{")] + members + [UInt8(ascii: "}")] }
}

extension ArchivePage {
    /// The page without later messages. They are events for its reader (HIS-4).
    fileprivate func through(_ last: Seq) -> ArchivePage {
        ArchivePage(range: range, more: false, messages: messages.filter { $0.seq <= last })
    }
}

/// Who may read the history (HIS-8).
public enum HistoryReading: String, CaseIterable, Sendable {
    /// Everybody whose token does not forbid it.
    case role
    /// Only those whose token permits it.
    case claim

    func access(of claim: HistoryClaim?) -> HistoryAccess {
        switch (self, claim) {
        case (_, .all?), (.role, nil): .granted
        case (_, HistoryClaim.none?), (.claim, nil): .denied
        }
    }
}

extension SignalingError {
    static var historyUnreadable: SignalingError {
        SignalingError(.notConnected, "the history cannot be read at present; try again later")
    }
}
