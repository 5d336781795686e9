import EventLoop
import Logging
import SignalingCore
import SignalingProtocol
import SignalingRedisCore

/// What all nodes on a Redis know of revocations: rows of a subject and a number, for each project. The rules are in
/// ``RevocationTableState``; this class carries out what they decide.
///
/// It is in the first Redis of the nodes' list, and has connections of its own. Confined to the loop's thread.
package final class RedisRevocationTable {
    package typealias Row = RevocationCall.Row
    package typealias Answer = (Result<RevocationTableState.Outcome, RevocationTableState.Failure>) -> Void

    private var state: RevocationTableState
    private var answers: [UInt64: Answer] = [:]
    private let port: any RevocationPort
    private let logger: Logger
    private var onOpened: (() -> Void)?
    /// Called when ``rows`` have changed.
    package var onChange: (() -> Void)?

    package init(
        redis: String, limit: Int, times: LogTimes, port: any RevocationPort, logger: Logger,
        onOpened: @escaping () -> Void
    ) {
        state = RevocationTableState(redis: redis, limit: limit, times: times, seed: .random(in: .min ... .max))
        self.port = port
        self.logger = logger
        self.onOpened = onOpened
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
        state.close()
        carryOut()
        port.shutDown()
    }

    // MARK: - The port's side

    package func tick() {
        state.tick(now: port.now)
        carryOut()
    }

    package func linkReady() {
        state.linkReady(now: port.now)
        carryOut()
    }

    package func linkLost(_ fault: CommandLogFault) {
        state.linkLost(fault, now: port.now)
        carryOut()
    }

    package func received(_ message: String) {
        guard RevocationCall.isNews(message) else { return }
        state.heardNews(now: port.now)
        carryOut()
    }

    // MARK: - Carrying out

    private func carryOut() {
        for effect in state.takeEffects() {
            switch effect {
            case .connect: port.connect()
            case .disconnect: port.disconnect()
            case .send(let subject, let call):
                port.send(call) { [weak self] reply in
                    guard let self else { return }
                    state.answered(subject, RevocationAnswer(to: call, reply), now: port.now)
                    carryOut()
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
}
