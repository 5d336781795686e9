/// Reads JSON texts.
///
/// Strict (WIRE-4): it accepts RFC 8259 in well-formed UTF-8 within ``JSONLimits``, and refuses duplicate names, NUL in
/// names, integers over 64 signed bits, and lone surrogates. Parsing takes time in proportion to the text.
///
/// The server and the client read messages with it. It takes a third of json-c's instructions (docs/PERFORMANCE.md).
public struct JSONParser: ~Copyable {
    public let limits: JSONLimits

    public init(limits: JSONLimits = .standard) { self.limits = limits }

    /// Returns the value of one whole text. Ignores white space around it, and keeps no reference to the bytes.
    ///
    /// - Throws: ``JSONError`` for any other text.
    public mutating func parse(_ bytes: UnsafeRawBufferPointer) throws(JSONError) -> JSONValue {
        guard bytes.count <= limits.byteCount else { throw JSONError(.tooLarge, at: limits.byteCount) }
        var scanner = JSONScanner<JSONBuilding>(bytes, limits: limits)
        return try scanner.scan()
    }

    /// The same for any collection of bytes.
    public mutating func parse(_ bytes: some Collection<UInt8>) throws(JSONError) -> JSONValue {
        try bytes.withRawBytes { bytes in
            Result { () throws(JSONError) in try parse(bytes) }
        }.get()
    }
}

extension JSONValue {
    /// Parses one JSON text; ``JSONParser`` has the rules and the errors.
    public init(parsing bytes: some Collection<UInt8>, limits: JSONLimits = .standard) throws(JSONError) {
        var parser = JSONParser(limits: limits)
        self = try parser.parse(bytes)
    }

    /// Parses one JSON text; see ``JSONParser``.
    public init(parsing text: String, limits: JSONLimits = .standard) throws(JSONError) {
        try self.init(parsing: text.utf8, limits: limits)
    }
}

extension Collection<UInt8> {
    /// Calls `body` with the bytes, and copies them before if they do not lie side by side.
    package func withRawBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withContiguousStorageIfAvailable { body(UnsafeRawBufferPointer($0)) }
            ?? Array(self).withUnsafeBytes { body($0) }
    }
}
