import JSONText
import SignalingCore
import SignalingProtocol

/// Reads what the entries of a feed announce, one after the other, and writes it as JSON (FEED-2).
///
/// Lives until it is done: each step keeps it for the next one. Confined to the loop.
final class FeedExpansion {
    private let engine: any SessionEngine
    private let types: KeptTypes
    private var steps: [(session: SessionID, announcement: Announcement)]
    private var batch: FeedBatch
    private let done: FeedDesk.Answer
    private var isRunning = false
    private var mustGoOn = false

    init(
        engine: any SessionEngine, rows: some Sequence<FeedPage.Row>, types: KeptTypes, batch: FeedBatch,
        done: @escaping FeedDesk.Answer
    ) {
        self.engine = engine
        self.types = types
        self.batch = batch
        self.done = done
        steps = rows.flatMap { row in row.entry.announcements.map { (row.session, $0) } }.reversed()
    }

    /// An archive in memory answers within the call. So this is a loop: a recursion would be as deep as the page is long.
    func proceed() {
        mustGoOn = true
        guard !isRunning else { return }
        isRunning = true
        defer { isRunning = false }
        while mustGoOn {
            mustGoOn = false
            step()
        }
    }

    private func step() {
        guard let (session, announcement) = steps.popLast() else { return done(.success(batch)) }
        switch announcement {
        case .event(let members):
            add(members, of: session)
            mustGoOn = true
        case .change(let seq): readChange(of: seq, in: session)
        case .messages(let first, let last, let count): readMessages(first, last, count, in: session)
        }
    }

    private func add(_ members: some Sequence<UInt8>, of session: SessionID) {
        var writer = JSONWriter(reservingCapacity: 256)
        writer.beginObject()
        writer.member("sessionId", session.rawValue)
        writer.endObject()
        batch.events.append(writer.bytes.dropLast() + [UInt8(ascii: ",")] + members + [UInt8(ascii: "}")])
    }

    private func add(_ event: StaticString, _ message: ArchivedMessage, of session: SessionID) {
        // Of an erased message nobody knows the type.
        guard message.content == nil || types.contains(message.type) else { return }
        var object: [UInt8] = []
        message.append(to: &object)
        // The message is an object of its own.
        add(Array(#""event":"\#(event)","#.utf8) + object.dropFirst().dropLast(), of: session)
    }

    private func addGap(_ first: Seq, _ last: Seq, of session: SessionID) {
        add(FeedEvent.gap(from: first, through: last).members, of: session)
    }

    /// Reads a page if the session's history may be read (HIS-8).
    private func read(
        after seq: Seq, limit: Int, of session: SessionID, _ use: @escaping (ArchivePage?) -> Void
    ) {
        guard engine.keepsHistory(session) else { return use(nil) }
        engine.readHistory(HistoryRequest(.after(seq), limit: limit), of: session) { [self] result in
            switch result {
            case .success(let page): use(page)
            case .failure: done(.failure(.unreadable))
            }
        }
    }

    /// A changed message that is gone is told by what has removed it.
    private func readChange(of seq: Seq, in session: SessionID) {
        read(after: seq.previous, limit: 1, of: session) { [self] page in
            if let message = page?.messages.first, message.seq == seq { add("change", message, of: session) }
            proceed()
        }
    }

    private func readMessages(_ first: Seq, _ last: Seq, _ count: Int, in session: SessionID) {
        read(after: first.previous, limit: count, of: session) { [self] page in
            let found = (page?.messages ?? []).filter { $0.seq <= last }
            // Of those that were trimmed, the history tells only where it begins now.
            let start = page?.range?.lowerBound ?? last.next
            if start > first { addGap(first, min(last, start.previous), of: session) }
            for message in found { add("signal", message, of: session) }
            guard let newest = found.last, newest.seq < last, page?.more == true else {
                if start <= first, found.count < count, found.last?.seq != last { addGap(first, last, of: session) }
                return proceed()
            }
            // A page has a bound in bytes, too.
            steps.append((session, .messages(first: newest.seq.next, last: last, count: count - found.count)))
            proceed()
        }
    }
}
