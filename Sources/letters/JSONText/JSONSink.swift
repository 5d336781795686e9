/// What a ``JSONScanner`` makes of a text: values, or nothing.
protocol JSONSink {
    associatedtype Value
    associatedtype Name
    associatedtype Elements
    associatedtype Members

    static func null() -> Value
    static func bool(_ value: Bool) -> Value
    static func integer(_ value: Int64) -> Value
    static func double(_ value: Double) -> Value
    /// - Parameter content: the text between the quotes, which the scanner has accepted.
    static func string(_ content: UnsafeRawBufferPointer, hasEscapes: Bool) -> Value

    static func noElements() -> Elements
    static func add(_ value: consuming Value, to elements: inout Elements)
    static func array(_ elements: consuming Elements) -> Value

    static func name(_ content: UnsafeRawBufferPointer, hasEscapes: Bool) -> Name
    static func noMembers() -> Members
    static func has(_ name: borrowing Name, in members: borrowing Members) -> Bool
    static func add(_ name: consuming Name, _ value: consuming Value, to members: inout Members)
    static func object(_ members: consuming Members) -> Value
}

/// Builds the values.
enum JSONBuilding: JSONSink {
    static func null() -> JSONValue { .null }
    static func bool(_ value: Bool) -> JSONValue { .bool(value) }
    static func integer(_ value: Int64) -> JSONValue { .integer(value) }
    static func double(_ value: Double) -> JSONValue { .double(value) }
    static func string(_ content: UnsafeRawBufferPointer, hasEscapes: Bool) -> JSONValue {
        .string(name(content, hasEscapes: hasEscapes))
    }

    static func noElements() -> [JSONValue] { [] }
    static func add(_ value: consuming JSONValue, to elements: inout [JSONValue]) { elements.append(value) }
    static func array(_ elements: consuming [JSONValue]) -> JSONValue { .array(elements) }

    static func name(_ content: UnsafeRawBufferPointer, hasEscapes: Bool) -> String {
        hasEscapes ? JSONUnescaping.text(content) : String(decoding: content, as: UTF8.self)
    }
    static func noMembers() -> JSONObject { JSONObject() }
    static func has(_ name: borrowing String, in members: borrowing JSONObject) -> Bool { members.has(name) }
    static func add(_ name: consuming String, _ value: consuming JSONValue, to members: inout JSONObject) {
        // A message has two to eight members.
        if members.isEmpty { members.reserveCapacity(8) }
        members.add(name, value)
    }
    static func object(_ members: consuming JSONObject) -> JSONValue { .object(members) }
}

/// Only checks the text.
enum JSONChecking: JSONSink {
    static func null() {}
    static func bool(_ value: Bool) {}
    static func integer(_ value: Int64) {}
    static func double(_ value: Double) {}
    static func string(_ content: UnsafeRawBufferPointer, hasEscapes: Bool) {}

    static func noElements() {}
    static func add(_ value: Void, to elements: inout Void) {}
    static func array(_ elements: Void) {}

    static func name(_ content: UnsafeRawBufferPointer, hasEscapes: Bool) {}
    static func noMembers() {}
    static func has(_ name: Void, in members: Void) -> Bool { false }
    static func add(_ name: Void, _ value: Void, to members: inout Void) {}
    static func object(_ members: Void) {}
}
