import EventLoop
import Logging
import SignalingCore
import SignalingProtocol
import SignalingRedisCore

/// What all nodes on a Redis know of revocations: rows of a subject and a number, for each project. The rules are in
/// ``RevocationTableState``; this class carries out what they decide.
///
/// It is in the first Redis of the nodes' list, and has connections of its own. Confined to the loop's thread.
package final class RedisRevocationTable: RedisPortUser {
    package typealias Row = RevocationCall.Row
    package typealias Answer = (Result<RevocationTableState.Outcome, RevocationTableState.Failure>) -> Void

    private var state: RevocationTableState
    private var answers: [UInt64: Answer] = [:]
    private let port: any RedisPort
    private let logger: Logger
    private var onOpened: (() -> Void)?
    /// Called when ``rows`` have changed.
    package var onChange: (() -> Void)?

    /// Begins to read the table of the nodes on a Redis.
    ///
    /// - Parameters:
    ///   - loop: the loop on whose thread this method, and all others, are called.
    ///   - onOpened: called when the table has been read.
    package init(
        _ address: RedisAddress, limit: Int, loop: EventLoop, logger: Logger, times: LogTimes = LogTimes(),
        onOpened: @escaping () -> Void
    ) {
        state = RevocationTableState(redis: "\(address)", limit: limit, times: times, seed: .random(in: .min ... .max))
        self.logger = logger
        self.onOpened = onOpened
        let links = RedisLinks([address], loop: loop)
        port = links
        links.serve(self, tick: times.tick)
    }

    deinit { port.shutDown() }

    /// The rows of each project, also while Redis is away.
    package var rows: [String: [String: Int64]] { state.rows }

    package func raise(_ row: Row, of project: String, answer: @escaping Answer) {
        answers[state.raise(row, of: project, now: port.now)] = answer
        carryOut()
    }

    package func remove(_ subject: String, of project: String, answer: @escaping Answer) {
        answers[state.remove(subject, of: project, now: port.now)] = answer
        carryOut()
    }

    package func close() {
        step { state, _ in state.close() }
        port.shutDown()
    }

    // MARK: - The port's side

    package func tick() { step { $0.tick(now: $1) } }

    package func receive(_ event: RedisLinkEvent, of shard: Int) {
        switch event {
        case .ready: step { $0.linkReady(now: $1) }
        case .lost(let fault): step { $0.linkLost(fault, now: $1) }
        case .nodesMessage(let text): if RevocationCall.isNews(text) { step { $0.heardNews(now: $1) } }
        case .subscription, .message: break
        }
    }

    // MARK: - Carrying out

    private func step(_ body: (inout RevocationTableState, MonotonicInstant) -> Void) {
        body(&state, port.now)
        carryOut()
    }

    private func carryOut() {
        for effect in state.takeEffects() {
            switch effect {
            case .connect: port.connect(0)
            case .disconnect: port.disconnect(0)
            case .loadLibrary: send(FunctionLibrary.loadCommand) { $0.libraryLoaded($1.failure, now: $2) }
            case .send(let subject, let call):
                send(call.command(database: port.database(of: 0))) {
                    $0.answered(subject, RevocationAnswer(to: call, $1), now: $2)
                }
            case .changed: onChange?()
            case .answer(let number, let result): answers.removeValue(forKey: number)?(result)
            case .opened:
                onOpened?()
                onOpened = nil
            case .note(let fault?): logger.error("the revocations cannot be read or changed at present: \(fault)")
            case .note(nil): logger.notice("the revocations can be read again")
            }
        }
        port.flush()
    }

    private func send(
        _ command: RedisCommand,
        _ answered: @escaping (inout RevocationTableState, RedisReply, MonotonicInstant) -> Void
    ) {
        port.send([command], to: 0) { [weak self] replies in self?.step { answered(&$0, replies[0], $1) } }
    }
}
