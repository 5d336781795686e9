import CHiredis
import SignalingRedisCore

extension RedisReply {
    /// Copies a reply of hiredis, which frees it afterwards.
    init(copying reply: UnsafePointer<redisReply>) {
        switch reply.pointee.type {
        case REDIS_REPLY_INTEGER: self = .integer(reply.pointee.integer)
        case REDIS_REPLY_STRING, REDIS_REPLY_STATUS: self = .bytes(Self.bytes(of: reply))
        case REDIS_REPLY_ERROR:
            self = .failure(RedisFailure(String(decoding: Self.bytes(of: reply), as: UTF8.self)))
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
}
