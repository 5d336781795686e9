/// A JSON value (RFC 8259). Integers stay integers: `1` and `1.0` are read as different values and written differently.
///
/// Two values are equal when they say the same: the order of an object's members means nothing, `1` and `1.0` differ,
/// names are compared byte by byte, and strings as Swift compares them, by canonical equivalence.
public enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    /// A number written without fraction and exponent. Only 64 signed bits are taken; `-0` is 0.
    case integer(Int64)
    /// Any other number. JSON has no infinity and no NaN: they are never read, and written as `null`.
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

    /// The integer. A number with fraction or exponent is none, even `1.0`; see ``doubleValue``.
    public var integerValue: Int64? {
        if case .integer(let value) = self { value } else { nil }
    }

    /// The number, whichever way it is written. Integers beyond 2⁵³ are rounded.
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

    /// The member of that name, if this is an object that has it. A member that is `null` is `.null`, not nil.
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

    /// Members in the order written. When a name stands twice, the later value takes the earlier one's place.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        var object = JSONObject()
        for (name, value) in elements { object.append(name, value) }
        self = .object(object)
    }
}
