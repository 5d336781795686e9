/// A request body while it arrives: either its length is known, or it comes in chunks.
enum RequestBody {
    case counted(bytes: [UInt8] = [], byteCount: Int)
    case chunked(ChunkedBody)

    enum Outcome: Equatable {
        case incomplete
        /// The last chunk has arrived. The end of a counted body is reported by the library.
        case complete([UInt8])
        /// More bytes than announced.
        case overrun
        case malformedChunks
        /// Over the limit, in bytes.
        case tooLarge(limit: Int)
    }

    mutating func append(_ input: UnsafeRawBufferPointer) -> Outcome {
        switch self {
        case .counted(var bytes, let byteCount):
            guard bytes.count + input.count <= byteCount else { return .overrun }
            self = .counted(byteCount: byteCount)  // One owner of the bytes, so that they are not copied.
            if bytes.isEmpty { bytes.reserveCapacity(byteCount) }
            bytes.append(contentsOf: input)
            self = .counted(bytes: bytes, byteCount: byteCount)
            return .incomplete
        case .chunked(var body):
            self = .counted(byteCount: 0)  // As above.
            let outcome = body.append(input)
            self = .chunked(body)
            switch outcome {
            case .wantsMore: return .incomplete
            case .complete: return .complete(body.bytes)
            case .malformed: return .malformedChunks
            case .tooLong: return .tooLarge(limit: body.limit)
            }
        }
    }

    /// The body, when the library has reported its end; nil if it is not complete, or never is by that report.
    var bytesAtEnd: [UInt8]? {
        switch self {
        case .counted(let bytes, let byteCount): bytes.count == byteCount ? bytes : nil
        case .chunked: nil
        }
    }
}
