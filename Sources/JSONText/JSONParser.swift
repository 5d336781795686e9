import CJSONC

/// Reads JSON texts with one json-c tokener that it owns and reuses.
///
/// Strict (WIRE-4): it accepts RFC 8259 in well-formed UTF-8 within ``JSONLimits``, and refuses duplicate names, NUL in
/// names, integers over 64 signed bits, and lone surrogates. Parsing takes time in proportion to the text.
///
/// Use a parser on one thread at a time. Keep one per loop.
public struct JSONParser: ~Copyable {
    public let limits: JSONLimits
    private let tokener: UnsafeMutablePointer<json_tokener>?

    public init(limits: JSONLimits = .standard) {
        self.limits = limits
        // json-c counts the value inside of the innermost container as one more level.
        tokener = json_tokener_new_ex(Int32(limits.depth) + 1)
        if let tokener { json_tokener_set_flags(tokener, JSON_TOKENER_STRICT) }
    }

    deinit {
        if let tokener { json_tokener_free(tokener) }
    }

    /// Returns the value of one whole text. Ignores white space around it, and keeps no reference to the bytes.
    ///
    /// - Throws: ``JSONError`` for any other text. The parser can be used again.
    public mutating func parse(_ bytes: UnsafeRawBufferPointer) throws(JSONError) -> JSONValue {
        guard bytes.count <= limits.byteCount else { throw JSONError(.tooLarge, at: limits.byteCount) }
        var scanner = JSONScanner(bytes, limits: limits)
        try scanner.scan()
        let tree = JSONTree(try build(bytes))
        guard let (value, memberCount) = tree.value() else { throw JSONError(.numberOutOfRange) }
        if memberCount != scanner.memberCount {
            // json-c keeps the last of several equal names, so its tree has fewer members than the text. Find the
            // duplicate.
            var finder = JSONScanner(bytes, limits: limits, comparesNames: true)
            try finder.scan()
            throw JSONError(.duplicateName)
        }
        return value
    }

    /// The same for any collection of bytes.
    public mutating func parse(_ bytes: some Collection<UInt8>) throws(JSONError) -> JSONValue {
        var result: Result<JSONValue, JSONError>?
        bytes.withContiguousStorageIfAvailable { storage in result = parsed(UnsafeRawBufferPointer(storage)) }
        if result == nil { Array(bytes).withUnsafeBytes { storage in result = parsed(storage) } }
        guard let result else { throw JSONError(.outOfMemory) }
        return try result.get()
    }

    /// The same as a `Result`, for closures that cannot throw a typed error.
    private mutating func parsed(_ bytes: UnsafeRawBufferPointer) -> Result<JSONValue, JSONError> {
        do throws(JSONError) { return .success(try parse(bytes)) } catch { return .failure(error) }
    }

    /// Parses a text that the scanner has accepted. Returns `nil` for `null`, else an object that the caller owns.
    private func build(_ bytes: UnsafeRawBufferPointer) throws(JSONError) -> OpaquePointer? {
        guard let tokener, let start = bytes.bindMemory(to: CChar.self).baseAddress else {
            throw JSONError(.outOfMemory)
        }
        json_tokener_reset(tokener)
        var tree = json_tokener_parse_ex(tokener, start, Int32(bytes.count))
        if tree == nil, json_tokener_get_error(tokener) == json_tokener_continue {
            // After a bare number or literal json-c waits for more; the NUL ends the text.
            tree = json_tokener_parse_ex(tokener, "", 1)
        }
        guard json_tokener_get_error(tokener) == json_tokener_success else {
            if let tree { json_object_put(tree) }
            throw JSONError(.outOfMemory)
        }
        return tree
    }
}

extension JSONValue {
    /// Parses one JSON text. For many texts keep a ``JSONParser``, which also documents the errors.
    public init(parsing bytes: some Collection<UInt8>, limits: JSONLimits = .standard) throws(JSONError) {
        var parser = JSONParser(limits: limits)
        self = try parser.parse(bytes)
    }

    /// Parses one JSON text; see ``JSONParser``.
    public init(parsing text: String, limits: JSONLimits = .standard) throws(JSONError) {
        try self.init(parsing: text.utf8, limits: limits)
    }
}
