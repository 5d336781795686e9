import SignalingProtocol

/// Looks into the history for messages that may have arrived, page by page. Begin it when the connections to which they
/// were given are gone: from then on none of them can arrive any more.
struct OutboxInquiry {
    struct Subject: Equatable {
        let localID: LocalID
        let text: String
        let attempt: OutboxContents.Attempt
    }

    enum Verdict: Equatable {
        case arrived(LocalID, Seq)
        /// It is not in the session, so it can be sent again.
        case absent(LocalID)
        /// The history does not reach back to it, or belongs to another order.
        case unknown(LocalID)
    }

    enum Step: Equatable {
        case read(HistoryRequest)
        case done([Verdict])
    }

    let number: Int
    private let subjects: [Subject]
    private let epoch: Epoch?
    private var position: Seq
    private var found: [LocalID: Seq] = [:]

    /// - Parameters:
    ///   - number: tells it from former inquiries, whose answers come too late.
    ///   - epoch: of the present connection.
    init?(_ subjects: [Subject], epoch: Epoch?, number: Int) {
        guard let first = subjects.map(\.attempt.after).min() else { return nil }
        self.subjects = subjects
        self.epoch = epoch
        self.number = number
        position = first
    }

    /// The verdicts without a history.
    var unknown: [Verdict] { subjects.map { .unknown($0.localID) } }

    var request: HistoryRequest { HistoryRequest(.after(position), limit: Limits.historyPageCount) }

    mutating func answer(_ page: HistoryPage) -> Step {
        for message in page.messages {
            for subject in subjects where found[subject.localID] == nil && matches(message, subject) {
                found[subject.localID] = message.seq
            }
        }
        if page.more, let last = page.messages.last?.seq, last > position {
            position = last
            return .read(request)
        }
        return .done(
            subjects.map { subject in
                if let seq = found[subject.localID] { return .arrived(subject.localID, seq) }
                return reaches(subject.attempt, page.range) ? .absent(subject.localID) : .unknown(subject.localID)
            })
    }

    /// A local ID alone proves nothing: another sender can use the same one (CHAT-4).
    private func matches(_ kept: HistoryMessage, _ subject: Subject) -> Bool {
        guard kept.seq > subject.attempt.after, kept.from?.connectionId == subject.attempt.connection,
            let message = ChatWireForm.message(from: kept)
        else { return false }
        // The content is gone or another one, and so is the local ID: the connection gave nothing else after this
        // position.
        if message.isErased || message.version != nil { return true }
        // Bare text has no local ID.
        return message.localID.map { $0 == subject.localID } ?? (message.text == subject.text)
    }

    /// Whether the history would have the message, had it arrived. The oldest messages go first (HIS-2), so a message
    /// that is as old as the position shows that nothing behind it is gone.
    private func reaches(_ attempt: OutboxContents.Attempt, _ range: ClosedRange<Seq>?) -> Bool {
        let hasOlder = range.map { $0.lowerBound <= attempt.after } ?? false
        // In another order only the history itself shows that its seqs went on (HIS-3).
        guard epoch != nil, epoch == attempt.epoch else { return hasOlder }
        return hasOlder || attempt.oldest == nil
    }
}
