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

    /// Says on another thread whether the file is the one that was written last, and calls back on the loop.
    typealias Check = (_ done: @escaping (Bool) -> Void) -> Void

    private let write: Write
    private let check: Check
    private let logger: Logger
    private var waiting: [Waiting] = []
    private var isWriting = false
    private var isClosed = false

    /// - Parameter kept: what the last process has left.
    init(
        _ kept: [APIKey: Revocations], logger: Logger, check: @escaping Check = { $0(true) }, write: @escaping Write
    ) {
        revocations = kept
        self.logger = logger
        self.check = check
        self.write = write
    }

    /// Writes the file again if it was removed or replaced: the next process must find what is revoked.
    func keepFile() {
        if isWriting || isClosed || revocations.isEmpty { return }
        isWriting = true
        check { [weak self] isIntact in
            guard let self else { return }
            if isIntact {
                isWriting = false
                return writeNext()
            }
            write(RevocationFile(revocations: revocations)) { [weak self] fault in
                guard let self else { return }
                isWriting = false
                let reason = fault.map { ", and cannot be written: \($0.reason)" } ?? "; it is written again"
                logger.error("the file with the revocations was removed or replaced\(reason)")
                writeNext()
            }
        }
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
