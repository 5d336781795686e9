import EventLoop
import SignalingProtocol

/// The transfers of one ``HTTPPoster``, on its thread.
final class TransferLoop {
    private let mailbox: PostMailbox
    private let multi: CurlMulti
    private var transfers: [HTTPPoster.PostID: Transfer] = [:]

    init(_ mailbox: PostMailbox, _ multi: CurlMulti) {
        self.mailbox = mailbox
        self.multi = multi
    }

    /// Returns when the mailbox is closed.
    func run() {
        while true {
            let (commands, isClosed) = mailbox.removeAll()
            for command in commands { perform(command) }
            if isClosed { break }
            for (transfer, result) in multi.perform() { end(transfer, transfer.outcome(result)) }
            let now = EventLoop.now
            for transfer in transfers.values where transfer.deadline <= now {
                end(transfer, transfer.outcome(.timedOut))
            }
            let next = transfers.values.map(\.deadline).min()
            multi.wait(next.map { $0.duration(since: now) } ?? .seconds(3600))
        }
        for transfer in transfers.values { end(transfer, transfer.outcome(.cancelled)) }
    }

    private func perform(_ command: PostMailbox.Command) {
        switch command {
        case .begin(let post, let id, let completion):
            let transfer = Transfer(post, id: id, now: EventLoop.now, completion: completion)
            guard let transfer, multi.add(transfer) else { return completion(.failed(.other("no memory is left"))) }
            transfers[id] = transfer
        case .cancel(let id):
            guard let transfer = transfers[id] else { return }
            end(transfer, transfer.outcome(.cancelled))
        }
    }

    private func end(_ transfer: Transfer, _ outcome: PostOutcome) {
        multi.remove(transfer)
        transfers[transfer.id] = nil
        transfer.completion(outcome)
    }
}
