/// A reply of Redis.
package enum RedisReply: Equatable {
    case null
    case integer(Int64)
    case bytes([UInt8])
    case array([RedisReply])
    case failure(RedisFailure)

    var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }

    package var text: String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

    package var array: [RedisReply]? { if case .array(let array) = self { array } else { nil } }

    package var failure: RedisFailure? { if case .failure(let failure) = self { failure } else { nil } }

    /// A number, sent as such or as text.
    package var number: Int64? {
        switch self {
        case .integer(let value): value
        case .bytes: text.flatMap { Int64($0) }
        case .null, .array, .failure: nil
        }
    }

    /// The element of an array.
    package subscript(index: Int) -> RedisReply {
        guard let array, array.indices.contains(index) else { return .null }
        return array[index]
    }

    /// The names and values of a hash.
    package var fields: [String: RedisReply] {
        var fields: [String: RedisReply] = [:]
        let array = array ?? []
        for index in stride(from: 0, to: array.count - 1, by: 2) {
            if let name = array[index].text { fields[name] = array[index + 1] }
        }
        return fields
    }
}
