import Dispatch
import Logging
import SignalingCore
import SignalingProtocol

/// The thread that reads an archive.
///
/// Unchecked: everything that changes is confined to the queue.
final class ArchiveReading: @unchecked Sendable {
    enum Request: Sendable {
        case page(HistoryRequest, SessionID)
        case lastSeq(SessionID)
        case feed(APIKey, FeedStart, limit: Int)
        case cursor(APIKey)
    }

    private let queue = DispatchQueue(label: "signalbox.history-reader")
    private let answers: ArchiveAnswers
    private let path: String
    private let logger: Logger
    private var reader: ArchiveReader?
    private var hasFailed = false

    init(_ reader: ArchiveReader, path: String, answers: ArchiveAnswers, logger: Logger) {
        self.reader = reader
        self.path = path
        self.answers = answers
        self.logger = logger
    }

    func read(_ request: Request, _ number: UInt64) {
        queue.async { [self] in answers.give([(number, outcome(of: request))]) }
    }

    /// Closes the connection, and uses another one if there is one.
    func use(_ new: ArchiveReader?) { queue.sync { reader = new } }

    private func outcome(of request: Request) -> ArchiveAnswers.Outcome {
        guard let reader else { return .failure(ArchiveFault("the history is closed")) }
        do throws(DatabaseError) {
            let content: ArchiveAnswers.Content
            switch request {
            case .page(let request, let session):
                content = .page(
                    try reader.page(request, of: session) {
                        logger.error(
                            "messages of a history were changed on the disk, and are left out",
                            metadata: ["path": "\(path)", "session": "\(session)"])
                    })
            case .lastSeq(let session): content = .lastSeq(try reader.lastSeq(of: session))
            case .feed(let project, let start, let limit):
                var damaged: Int64?
                let reading = try reader.feed(of: project, from: start, limit: limit) {
                    damaged = $0
                    logger.error(
                        "an entry of a feed was changed on the disk: its readers begin anew",
                        metadata: ["path": "\(path)", "project": "\(project)"])
                }
                content = .feed(reading, damaged: damaged)
            case .cursor(let project): content = .cursor(try reader.cursor(of: project))
            }
            hasFailed = false
            return .success(content)
        } catch {
            if !hasFailed { logger.error("the history cannot be read: \(error)", metadata: ["path": "\(path)"]) }
            hasFailed = true
            return .failure(ArchiveFault("\(error)"))
        }
    }
}
