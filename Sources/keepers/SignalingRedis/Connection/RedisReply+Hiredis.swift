import CHiredis
import SignalingRedisCore

extension RedisReply {
    /// Copies a reply of hiredis; `nil` if it is none of RESP2.
    init?(copying reply: UnsafePointer<redisReply>) {
        switch reply.pointee.type {
        case REDIS_REPLY_NIL: self = .null
        case REDIS_REPLY_INTEGER: self = .integer(reply.pointee.integer)
        case REDIS_REPLY_STRING, REDIS_REPLY_STATUS: self = .bytes(Self.bytes(of: reply))
        case REDIS_REPLY_ERROR:
            self = .failure(RedisFailure(String(decoding: Self.bytes(of: reply), as: UTF8.self)))
        case REDIS_REPLY_ARRAY:
            var elements: [RedisReply] = []
            elements.reserveCapacity(reply.pointee.elements)
            for index in 0..<reply.pointee.elements {
                guard let element = reply.pointee.element?[index], let copy = RedisReply(copying: element) else {
                    return nil
                }
                elements.append(copy)
            }
            self = .array(elements)
        default: return nil
        }
    }

    private static func bytes(of reply: UnsafePointer<redisReply>) -> [UInt8] {
        guard let text = reply.pointee.str else { return [] }
        return [UInt8](UnsafeRawBufferPointer(start: text, count: reply.pointee.len))
    }
}
