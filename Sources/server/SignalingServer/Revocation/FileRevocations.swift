import Logging
import SignalingProtocol
import SignalingTokens

/// Keeps revocations in a file of the state folder. A change takes effect and is answered when the file is on the disk.
///
/// Another thread writes: a line with what has changed, and the whole file when these lines have become many. So a change
/// costs the same, however much is revoked. What arrives meanwhile waits, and then is written together.
final class FileRevocations: RevocationStore {
    private(set) var revocations: [APIKey: Revocations]
    var onChange: (() -> Void)?

    private enum Phase {
        /// Next: `writing`, `closed`.
        case idle
        /// The file is written or looked at, and what arrives waits. Next: `idle`, `closed`.
        case writing
        /// No further change is carried out. A write that is under way ends.
        case closed
    }

    private struct Waiting {
        let change: RevocationChange
        let project: APIKey
        let answer: (Result<RevocationOutcome, RevocationFault>) -> Void
    }

    /// Writes on another thread, and calls back on the loop. Appends the steps, or replaces the whole file without any.
    typealias Write = (
        _ file: RevocationFile, _ steps: [RevocationFile.Step]?, _ done: @escaping (FileFault?) -> Void
    ) -> Void

    /// Says on another thread whether the file is the one that was written last, and calls back on the loop.
    typealias Check = (_ done: @escaping (Bool) -> Void) -> Void

    private let write: Write
    private let check: Check
    private let logger: Logger
    private var waiting: [Waiting] = []
    private var phase = Phase.idle
    /// The changes that follow the whole in the file; `nil` if there is no file, or nothing can follow.
    private var changeCount: Int?
    /// So many changes may follow the whole, or as many as there are revocations.
    private static let changeLimit = 1_024

    /// - Parameter kept: what the last process has left; `nil` without a file.
    init(
        _ kept: RevocationFile?, logger: Logger, check: @escaping Check = { $0(true) }, write: @escaping Write
    ) {
        revocations = kept?.revocations ?? [:]
        changeCount = kept?.changeCount
        self.logger = logger
        self.check = check
        self.write = write
    }

    /// Writes the file again if it was removed or replaced: the next process must find what is revoked.
    func keepFile() {
        guard phase == .idle, !revocations.isEmpty else { return }
        phase = .writing
        check { [weak self] isIntact in
            guard let self else { return }
            if isIntact { return written() }
            write(RevocationFile(revocations: revocations), nil) { [weak self] fault in
                guard let self else { return }
                changeCount = fault == nil ? 0 : nil
                let reason = fault.map { ", and cannot be written: \($0.reason)" } ?? "; it is written again"
                logger.error("the file with the revocations was removed or replaced\(reason)")
                written()
            }
        }
    }

    func carryOut(
        _ change: RevocationChange, of project: APIKey,
        answer: @escaping (Result<RevocationOutcome, RevocationFault>) -> Void
    ) {
        if phase == .closed { return answer(.failure(.notKept)) }
        waiting.append(Waiting(change: change, project: project, answer: answer))
        writeNext()
    }

    func close() {
        phase = .closed
        let rest = waiting
        waiting = []
        for waiting in rest { waiting.answer(.failure(.notKept)) }
    }

    private func written() {
        if phase == .writing { phase = .idle }
        writeNext()
    }

    private func writeNext() {
        guard phase == .idle, !waiting.isEmpty else { return }
        let batch = waiting
        waiting = []
        var changed = revocations
        var steps: [RevocationFile.Step] = []
        let outcomes = batch.map { waiting in
            let isNew = changed.isNew(waiting.change, in: waiting.project)
            let outcome = changed.carryOut(waiting.change, of: waiting.project)
            if isNew, outcome != .full {
                steps.append(RevocationFile.Step(project: waiting.project, change: waiting.change))
            }
            return outcome
        }
        if steps.isEmpty {
            for (waiting, outcome) in zip(batch, outcomes) { waiting.answer(.success(outcome)) }
            return
        }
        phase = .writing
        let limit = max(Self.changeLimit, changed.values.reduce(0) { $0 + $1.count })
        let count = changeCount.map { $0 + steps.count }.flatMap { $0 <= limit ? $0 : nil }
        write(RevocationFile(revocations: changed), count == nil ? nil : steps) { [weak self] fault in
            guard let self else { return }
            // After a failure the file may have a part of a line.
            changeCount = fault == nil ? count ?? 0 : nil
            if let fault {
                logger.error("the revocations cannot be written: \(fault.reason)")
                for waiting in batch { waiting.answer(.failure(.notKept)) }
            } else {
                revocations = changed
                onChange?()
                for (waiting, outcome) in zip(batch, outcomes) { waiting.answer(.success(outcome)) }
            }
            written()
        }
    }
}

extension [APIKey: Revocations] {
    fileprivate func isNew(_ change: RevocationChange, in project: APIKey) -> Bool {
        switch change {
        case .add(let revocation): self[project]?.covers(revocation) != true
        case .remove(let subject): self[project]?.contains(subject) == true
        }
    }
}
