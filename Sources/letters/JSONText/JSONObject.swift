/// The members of a JSON object, in the order of writing, each name once.
///
/// The order makes the output stable but has no meaning (RFC 8259 section 4): two objects with the same members are
/// equal. Names are compared byte by byte as UTF-8, as in JSON, and not by Swift's canonical equivalence: `"é"` in one
/// scalar and `"é"` in two are different names.
public struct JSONObject: Sendable {
    public typealias Element = (name: String, value: JSONValue)

    private var members: [Element] = []
    /// The index of each name. Only filled when the object has too many members for a linear search.
    private var memberIndices: [ExactName: Int] = [:]
    private static let linearCount = 16

    public init() {}

    /// Adds a member at the end. Replaces the value when the object has a member of that name, which keeps its index.
    public mutating func append(_ name: String, _ value: JSONValue) {
        if let index = memberIndex(of: name) { members[index].value = value } else { add(name, value) }
    }

    /// The member's value; `nil` when there is no such member. Setting `nil` removes the member.
    public subscript(_ name: String) -> JSONValue? {
        get { memberIndex(of: name).map { members[$0].value } }
        set {
            if let newValue {
                append(name, newValue)
            } else if let index = memberIndex(of: name) {
                members.remove(at: index)
                memberIndices = [:]
                if members.count > Self.linearCount { indexAll() }
            }
        }
    }

    /// Adds a member whose name is not in the object, since the parser checks for duplicates itself.
    package mutating func add(_ name: String, _ value: JSONValue) {
        members.append((name, value))
        if members.count == Self.linearCount + 1 {
            indexAll()
        } else if members.count > Self.linearCount {
            memberIndices[ExactName(text: name)] = members.count - 1
        }
    }

    package mutating func reserveCapacity(_ count: Int) { members.reserveCapacity(count) }

    private mutating func indexAll() {
        for (index, member) in members.enumerated() { memberIndices[ExactName(text: member.name)] = index }
    }

    func has(_ name: String) -> Bool { memberIndex(of: name) != nil }

    private func memberIndex(of name: String) -> Int? {
        if members.count > Self.linearCount { return memberIndices[ExactName(text: name)] }
        // The counts are known, and tell most names apart.
        return members.firstIndex {
            $0.name.utf8.count == name.utf8.count && $0.name.utf8.elementsEqual(name.utf8)
        }
    }
}

extension JSONObject: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { members.count }
    public subscript(_ index: Int) -> Element { members[index] }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// The later value of a repeated name replaces the earlier one and keeps its index.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        for (name, value) in elements { append(name, value) }
    }
}

extension JSONObject: Hashable {
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.count == right.count && left.allSatisfy { right[$0.name] == $0.value }
    }

    public func hash(into hasher: inout Hasher) {
        // Combined by a commutative operation, since equality ignores the order.
        var sum = 0
        for (name, value) in members {
            var member = Hasher()
            member.combine(ExactName(text: name))
            member.combine(value)
            sum &+= member.finalize()
        }
        hasher.combine(count)
        hasher.combine(sum)
    }
}

/// A name that is equal only to a name of the same bytes.
struct ExactName: Hashable {
    let text: String

    static func == (left: ExactName, right: ExactName) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }
    func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
        hasher.combine(UInt8(0xFF))
    }
}
