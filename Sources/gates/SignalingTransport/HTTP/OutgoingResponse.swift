/// The bytes of a response that is being sent, and how many of them were passed on.
struct OutgoingResponse {
    private let head: [UInt8]
    private let body: [UInt8]
    private let bodyByteCount: Int
    private var sentByteCount = 0

    static let empty = OutgoingResponse(head: [], body: [], bodyByteCount: 0)

    init(_ response: HTTPResponse, isHead: Bool, keepsAlive: Bool) {
        let (head, bodyByteCount) = response.serialized(isHead: isHead, keepsAlive: keepsAlive)
        self.init(head: head, body: response.body, bodyByteCount: bodyByteCount)
    }

    private init(head: [UInt8], body: [UInt8], bodyByteCount: Int) {
        self.head = head
        self.body = body
        self.bodyByteCount = bodyByteCount
    }

    var isComplete: Bool { sentByteCount == head.count + bodyByteCount }

    /// Passes the next bytes to `write`, which returns how many it accepted, or -1. A small response is sent in one
    /// piece.
    ///
    /// - Parameter limit: the largest piece, in bytes.
    mutating func writeNext(limit: Int, _ write: (UnsafeBufferPointer<UInt8>) -> Int) -> Int {
        let count: Int
        if sentByteCount == 0, head.count + bodyByteCount <= limit {
            count = (head + body.prefix(bodyByteCount)).withUnsafeBufferPointer(write)
        } else if sentByteCount < head.count {
            count = head.withUnsafeBufferPointer { write(UnsafeBufferPointer(rebasing: $0[sentByteCount...])) }
        } else {
            let start = sentByteCount - head.count
            let end = min(start + limit, bodyByteCount)
            count = body.withUnsafeBufferPointer { write(UnsafeBufferPointer(rebasing: $0[start..<end])) }
        }
        sentByteCount += max(0, count)
        return count
    }
}
