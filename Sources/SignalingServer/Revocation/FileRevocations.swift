import Logging
import SignalingProtocol
import SignalingTokens

/// Keeps revocations in a file of the state folder. A change takes effect and is answered when the file is on the disk.
///
/// Another thread writes the whole file. What arrives meanwhile waits, and then is written together.
final class FileRevocations: RevocationStore {
    private(set) var revocations: [APIKey: Revocations]
    var onChange: (() -> Void)?

    private struct Waiting {
        let change: RevocationChange
        let project: APIKey
        let answer: (Result<RevocationOutcome, RevocationFault>) -> Void
    }

    /// Writes bytes on another thread, and calls back on the loop.
    typealias Write = (_ file: RevocationFile, _ done: @escaping (FileFault?) -> Void) -> Void

    private let write: Write
    private let logger: Logger
    private var waiting: [Waiting] = []
    private var isWriting = false
    private var isClosed = false

    /// - Parameter kept: what the last process has left.
    init(_ kept: [APIKey: Revocations], logger: Logger, write: @escaping Write) {
        revocations = kept
        self.logger = logger
        self.write = write
    }

    func carryOut(
        _ change: RevocationChange, of project: APIKey,
        answer: @escaping (Result<RevocationOutcome, RevocationFault>) -> Void
    ) {
        if isClosed { return answer(.failure(.notKept)) }
        waiting.append(Waiting(change: change, project: project, answer: answer))
        writeNext()
    }

    func close() {
        isClosed = true
        let rest = waiting
        waiting = []
        for waiting in rest { waiting.answer(.failure(.notKept)) }
    }

    private func writeNext() {
        guard !isWriting, !waiting.isEmpty else { return }
        let batch = waiting
        waiting = []
        var changed = revocations
        let outcomes = batch.map { changed.carryOut($0.change, of: $0.project) }
        if changed == revocations {
            for (waiting, outcome) in zip(batch, outcomes) { waiting.answer(.success(outcome)) }
            return
        }
        isWriting = true
        write(RevocationFile(revocations: changed)) { [weak self] fault in
            guard let self else { return }
            isWriting = false
            if let fault {
                logger.error("the revocations cannot be written: \(fault.reason)")
                for waiting in batch { waiting.answer(.failure(.notKept)) }
            } else {
                revocations = changed
                onChange?()
                for (waiting, outcome) in zip(batch, outcomes) { waiting.answer(.success(outcome)) }
            }
            writeNext()
        }
    }
}
