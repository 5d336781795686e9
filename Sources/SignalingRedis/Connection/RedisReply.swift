import CHiredis

/// A reply of Redis.
enum RedisReply: Equatable {
    case null
    case integer(Int64)
    case bytes([UInt8])
    case array([RedisReply])
    /// The text begins with a word in capitals, such as `OOM`.
    case error(String)

    /// Copies a reply of hiredis, which frees it afterwards.
    init(copying reply: UnsafePointer<redisReply>) {
        switch reply.pointee.type {
        case REDIS_REPLY_INTEGER: self = .integer(reply.pointee.integer)
        case REDIS_REPLY_STRING, REDIS_REPLY_STATUS: self = .bytes(Self.bytes(of: reply))
        case REDIS_REPLY_ERROR: self = .error(String(decoding: Self.bytes(of: reply), as: UTF8.self))
        case REDIS_REPLY_ARRAY:
            self = .array(
                (0..<reply.pointee.elements).map { index in
                    guard let element = reply.pointee.element?[index] else { return .null }
                    return RedisReply(copying: element)
                })
        default: self = .null
        }
    }

    private static func bytes(of reply: UnsafePointer<redisReply>) -> [UInt8] {
        guard let text = reply.pointee.str else { return [] }
        return [UInt8](UnsafeRawBufferPointer(start: text, count: reply.pointee.len))
    }

    // MARK: - Reading

    var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }

    var text: String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

    var array: [RedisReply]? { if case .array(let array) = self { array } else { nil } }

    var error: String? { if case .error(let text) = self { text } else { nil } }

    /// A number, sent as such or as text.
    var number: Int64? {
        switch self {
        case .integer(let value): value
        case .bytes: text.flatMap { Int64($0) }
        case .null, .array, .error: nil
        }
    }

    /// The element of an array.
    subscript(index: Int) -> RedisReply {
        guard let array, array.indices.contains(index) else { return .null }
        return array[index]
    }
}
