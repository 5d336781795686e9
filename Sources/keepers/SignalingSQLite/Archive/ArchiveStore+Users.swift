import SignalingCore
import SignalingProtocol

/// Erasing the messages of a user (HIS-9), which are spread over all of a session's chunks.
extension ArchiveStore {
    /// The chunks that one step reads: about half a MiB.
    static let erasedChunkCount = 64

    /// Erases the messages in some chunks.
    ///
    /// - Parameter seq: the last seq of the step before.
    /// - Returns: the last seq of the chunks that were read; `nil` if there are no others.
    func eraseMessages(
        in scope: ErasureScope, of session: SessionID, after seq: Int64
    ) throws(DatabaseError) -> Int64? {
        var last: Int64?
        try change(session, createsIt: false) { (row) throws(DatabaseError) in
            last = try eraseMessages(in: scope, &row, after: seq, limit: Self.erasedChunkCount)
        }
        return last
    }

    func eraseMessages(
        in scope: ErasureScope, _ row: inout ArchivedSession, after seq: Int64, limit: Int
    ) throws(DatabaseError) -> Int64? {
        guard seq < .max else { return nil }
        var found: [ArchiveChunks.Row] = []
        try chunks.read(.from(seq + 1), row.key) {
            found.append($0)
            return found.count < limit
        }
        for old in found {
            guard var chunk = old.chunk, chunk.messages.contains(where: { $0.content != nil && scope.covers($0) })
            else {
                continue
            }
            for index in chunk.messages.indices where scope.covers(chunk.messages[index]) {
                row.byteCount += chunk.messages[index].erased.byteCount - chunk.messages[index].byteCount
                chunk.messages[index] = chunk.messages[index].erased
            }
            try chunks.insert(chunk, row.key)
        }
        return found.count < limit ? nil : found.last?.first
    }
}
