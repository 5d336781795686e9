import DequeModule
import SignalingProtocol

/// Of the requests and of the seqs the differences are written, since books are the largest part of a large session.
extension AnswerBook: ByteCodable {
    /// How an answer begins. Numbers from `signalled` on hold the difference to the seq of the last signal, too.
    private enum Kind {
        static let forceDisconnected: UInt64 = 0
        /// The number of the error follows.
        static let refused: UInt64 = 1
        static let signalled: UInt64 = 2
    }

    func write(to writer: inout ByteWriter) {
        writer.write(highest)
        writer.write(repeatedThrough)
        writer.write(count: entries.count)
        var (request, seq): (Int64, Int64) = (0, 0)
        for entry in entries {
            writer.write(signed: entry.request.rawValue &- request)
            request = entry.request.rawValue
            switch entry.answer {
            case .forceDisconnected: writer.write(unsigned: Kind.forceDisconnected)
            case .refused(let error):
                writer.write(unsigned: Kind.refused)
                writer.write(unsigned: UInt64(error.code.number))
            case .signalled(let answer):
                writer.write(unsigned: Kind.signalled &+ ByteWriter.zigzag(answer.rawValue &- seq))
                seq = answer.rawValue
            }
        }
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        let highest: RequestID? = try reader.optional()
        let repeatedThrough: RequestID? = try reader.optional()
        let count = try reader.count(ofAtLeast: 2)
        guard count <= Limits.unansweredRequests else { throw .malformed }
        var entries: [Entry] = []
        var (request, seq): (Int64, Int64) = (0, 0)
        for _ in 0..<count {
            request &+= try reader.signed()
            let answer: Answer
            switch try reader.unsigned() {
            case Kind.forceDisconnected: answer = .forceDisconnected
            case Kind.refused:
                let number = try reader.unsigned()
                guard let code = SignalingError.Code.all.first(where: { $0.number == number }) else { throw .malformed }
                answer = .refused(SignalingError(code, ""))
            case let value:
                seq &+= ByteReader.zigzag(value - Kind.signalled)
                guard seq >= 0 else { throw .malformed }
                answer = .signalled(Seq(seq))
            }
            entries.append(Entry(request: RequestID(request), answer: answer))
        }
        self.init(entries: entries, highest: highest, repeatedThrough: repeatedThrough)
    }
}
