/// The members of one object as they stand in the text: no name and no value is copied.
///
/// For the most frequent lines. ``JSONParser/members(of:)`` returns `nil` for everything that needs more than this: the
/// caller then parses the whole value. The texts point into the parsed bytes, and are valid as long as these.
package struct JSONMembers {
    /// A value without its own memory.
    package enum Value {
        case null
        case bool(Bool)
        case integer(Int64)
        case double
        /// A string: the bytes between its quotes.
        case text(UnsafeRawBufferPointer, hasEscapes: Bool)
        /// An object or an array. Its content is checked, and dropped.
        case container
    }

    fileprivate struct Member {
        let name: UnsafeRawBufferPointer
        let value: Value
    }

    /// More members need an index, or to find duplicate names would take time in the square of their number.
    fileprivate static let mostCount = 16

    fileprivate var members: [Member] = []
    /// Whether each name stands for itself, also those of the objects inside, and there are not too many.
    fileprivate var isPlain = true

    /// The value of a member; `nil` if it is absent.
    package subscript(name: StaticString) -> Value? {
        let count = name.utf8CodeUnitCount
        for member in members where member.name.count == count {
            if Self.isEqual(member.name, name) { return member.value }
        }
        return nil
    }

    private static func isEqual(_ bytes: UnsafeRawBufferPointer, _ name: StaticString) -> Bool {
        for index in 0..<bytes.count where bytes[index] != name.utf8Start[index] { return false }
        return true
    }
}

extension JSONMembers {
    /// The text of a string.
    package static func text(_ content: UnsafeRawBufferPointer, hasEscapes: Bool) -> String {
        JSONBuilding.name(content, hasEscapes: hasEscapes)
    }
}

extension JSONParser {
    /// Reads one object without building its values. As strict as ``parse(_:)-(UnsafeRawBufferPointer)``.
    ///
    /// - Returns: `nil` if the text is not an object that `parse` accepts, has an escape in a name, or has over 16 members.
    package mutating func members(of bytes: UnsafeRawBufferPointer) -> JSONMembers? {
        guard bytes.count <= limits.byteCount else { return nil }
        var scanner = JSONScanner<JSONMemberReading>(bytes, limits: limits)
        guard case .object(let members)? = try? scanner.scan(), members.isPlain else { return nil }
        return members
    }
}

/// Keeps the members of the outermost object, which is the one that ends last.
private enum JSONMemberReading: JSONSink {
    enum Value {
        case scalar(JSONMembers.Value)
        case array(isPlain: Bool)
        case object(JSONMembers)

        var isPlain: Bool {
            switch self {
            case .scalar: true
            case .array(let isPlain): isPlain
            case .object(let members): members.isPlain
            }
        }
        var member: JSONMembers.Value {
            switch self {
            case .scalar(let value): value
            case .array, .object: .container
            }
        }
    }

    static func null() -> Value { .scalar(.null) }
    static func bool(_ value: Bool) -> Value { .scalar(.bool(value)) }
    static func integer(_ value: Int64) -> Value { .scalar(.integer(value)) }
    static func double(_ value: Double) -> Value { .scalar(.double) }
    static func string(_ content: UnsafeRawBufferPointer, hasEscapes: Bool) -> Value {
        .scalar(.text(content, hasEscapes: hasEscapes))
    }

    /// Whether all elements so far are plain.
    static func noElements() -> Bool { true }
    static func add(_ value: consuming Value, to elements: inout Bool) { elements = elements && value.isPlain }
    static func array(_ elements: Bool) -> Value { .array(isPlain: elements) }

    struct Name {
        let content: UnsafeRawBufferPointer
        let hasEscapes: Bool
    }

    static func name(_ content: UnsafeRawBufferPointer, hasEscapes: Bool) -> Name {
        Name(content: content, hasEscapes: hasEscapes)
    }
    static func noMembers() -> JSONMembers { JSONMembers() }
    static func has(_ name: borrowing Name, in members: borrowing JSONMembers) -> Bool {
        let content = name.content
        for index in 0..<members.members.count {
            let other = members.members[index].name
            if other.count == content.count, other.elementsEqual(content) { return true }
        }
        return false
    }
    static func add(_ name: consuming Name, _ value: consuming Value, to members: inout JSONMembers) {
        guard !name.hasEscapes, value.isPlain, members.members.count < JSONMembers.mostCount else {
            members.isPlain = false
            return
        }
        if members.members.isEmpty { members.members.reserveCapacity(8) }
        members.members.append(JSONMembers.Member(name: name.content, value: value.member))
    }
    static func object(_ members: consuming JSONMembers) -> Value { .object(members) }
}
