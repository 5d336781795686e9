/// The members of a JSON object, in the order written, each name once.
///
/// Order is kept so that what is written is stable, but it means nothing (RFC 8259 section 4): two objects with the same
/// members are equal. Names are compared byte by byte as UTF-8, as JSON does, and not by canonical equivalence
/// as Swift does: `"é"` in one scalar and in two are two names.
public struct JSONObject: Sendable {
    public typealias Element = (name: String, value: JSONValue)

    private var members: [Element] = []
    /// Where each name stands; kept only when there are more members than a linear search should have to read.
    private var places: [ExactName: Int] = [:]
    private static let linearCount = 16

    public init() {}

    /// Adds a member at the end. If the name is there already, its value is replaced in its place.
    public mutating func append(_ name: String, _ value: JSONValue) {
        if let place = place(of: name) { members[place].value = value } else { add(name, value) }
    }

    /// The member's value, or nil if there is none. Setting nil removes the member.
    public subscript(_ name: String) -> JSONValue? {
        get { place(of: name).map { members[$0].value } }
        set {
            if let newValue {
                append(name, newValue)
            } else if let place = place(of: name) {
                members.remove(at: place)
                places = [:]
                if members.count > Self.linearCount { indexAll() }
            }
        }
    }

    /// Adds a member whose name is known to be new: the parser's, which has looked for duplicates already.
    mutating func add(_ name: String, _ value: JSONValue) {
        members.append((name, value))
        if members.count == Self.linearCount + 1 {
            indexAll()
        } else if members.count > Self.linearCount {
            places[ExactName(text: name)] = members.count - 1
        }
    }

    mutating func reserveCapacity(_ count: Int) { members.reserveCapacity(count) }

    private mutating func indexAll() {
        for (place, member) in members.enumerated() { places[ExactName(text: member.name)] = place }
    }

    private func place(of name: String) -> Int? {
        if members.count > Self.linearCount { return places[ExactName(text: name)] }
        return members.firstIndex { $0.name.utf8.elementsEqual(name.utf8) }
    }
}

extension JSONObject: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { members.count }
    public subscript(_ place: Int) -> Element { members[place] }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// When a name stands twice, the later value takes the earlier one's place.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        for (name, value) in elements { append(name, value) }
    }
}

extension JSONObject: Hashable {
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.count == right.count && left.allSatisfy { right[$0.name] == $0.value }
    }

    public func hash(into hasher: inout Hasher) {
        // Combined by a commutative operation, since equality does not look at the order.
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

/// A name that equals only the same bytes.
struct ExactName: Hashable {
    let text: String

    static func == (left: ExactName, right: ExactName) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }
    func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
        hasher.combine(UInt8(0xFF))
    }
}
