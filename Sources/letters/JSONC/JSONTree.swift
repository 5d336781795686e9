import CJSONC
import JSONText

/// Owns a tree that json-c has built, and frees it.
struct JSONTree: ~Copyable {
    private let root: OpaquePointer?

    /// Takes ownership of the tree; `nil` is JSON's `null`.
    init(_ root: OpaquePointer?) { self.root = root }

    deinit {
        // The result, 1 for a freed object, is ignored: this is the only reference.
        if let root { json_object_put(root) }
    }

    /// The tree as a Swift value, and the number of members of all its objects; `nil` for a tree with an infinite
    /// number.
    func value() -> (value: JSONValue, memberCount: Int)? {
        var memberCount = 0
        return Self.value(of: root, &memberCount).map { ($0, memberCount) }
    }

    /// Recursive: the tokener bounds the depth.
    private static func value(of node: OpaquePointer?, _ memberCount: inout Int) -> JSONValue? {
        switch json_object_get_type(node) {
        case json_type_null: return .null
        case json_type_boolean: return .bool(json_object_get_boolean(node) != 0)
        case json_type_int: return .integer(json_object_get_int64(node))
        case json_type_double:
            let number = json_object_get_double(node)
            return number.isFinite ? .double(number) : nil
        case json_type_string: return .string(text(json_object_get_string(node), json_object_get_string_len(node)))
        case json_type_array: return array(node, &memberCount)
        case json_type_object: return object(node, &memberCount)
        default: return nil
        }
    }

    private static func array(_ node: OpaquePointer?, _ memberCount: inout Int) -> JSONValue? {
        let count = json_object_array_length(node)
        var elements: [JSONValue] = []
        elements.reserveCapacity(count)
        for index in 0..<count {
            guard let element = value(of: json_object_array_get_idx(node, index), &memberCount) else { return nil }
            elements.append(element)
        }
        return .array(elements)
    }

    private static func object(_ node: OpaquePointer?, _ memberCount: inout Int) -> JSONValue? {
        var object = JSONObject()
        object.reserveCapacity(Int(json_object_object_length(node)))
        var iterator = json_object_iter_begin(node)
        var end = json_object_iter_end(node)
        while json_object_iter_equal(&iterator, &end) == 0 {
            guard let name = json_object_iter_peek_name(&iterator),
                let value = value(of: json_object_iter_peek_value(&iterator), &memberCount)
            else { return nil }
            object.add(String(cString: name), value)
            memberCount += 1
            json_object_iter_next(&iterator)
        }
        return .object(object)
    }

    /// A string of json-c. It may hold NUL, so its length is explicit.
    private static func text(_ start: UnsafePointer<CChar>?, _ count: Int32) -> String {
        String(decoding: UnsafeRawBufferPointer(start: start, count: Int(count)), as: UTF8.self)
    }
}
