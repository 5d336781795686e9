/// A JSON value (RFC 8259). Integers stay integers: `1` and `1.0` are different values, and are written differently.
///
/// Equality ignores the order of an object's members. It compares names byte by byte, and strings as Swift does, by
/// canonical equivalence.
public enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    /// A number without fraction and exponent, within 64 signed bits; `-0` is 0.
    case integer(Int64)
    /// Any other number. JSON has no infinity and no NaN: the parser never returns them, and they are written as
    /// `null`.
    case double(Double)
    /// Any Unicode text, NUL included.
    case string(String)
    case array([JSONValue])
    case object(JSONObject)
}

extension JSONValue {
    public var isNull: Bool { self == .null }

    public var boolValue: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The integer; `nil` for a number with fraction or exponent, even `1.0`. See ``doubleValue``.
    public var integerValue: Int64? {
        if case .integer(let value) = self { value } else { nil }
    }

    /// The number, integer or not. Integers beyond 2⁵³ are rounded.
    public var doubleValue: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .double(let value): value
        case .null, .bool, .string, .array, .object: nil
        }
    }

    public var stringValue: String? {
        if case .string(let value) = self { value } else { nil }
    }

    public var arrayValue: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    public var objectValue: JSONObject? {
        if case .object(let value) = self { value } else { nil }
    }

    /// The member of that name; `nil` when this is no object or has no such member. A `null` member is `.null`.
    public subscript(_ name: String) -> JSONValue? { objectValue?[name] }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(nilLiteral: ()) { self = .null }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .double(value) }
    public init(stringLiteral value: String) { self = .string(value) }
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

    /// Keeps the members' order. The later value of a repeated name replaces the earlier one and keeps its index.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        var object = JSONObject()
        for (name, value) in elements { object.append(name, value) }
        self = .object(object)
    }
}
