import CJSONC

/// Reads JSON texts, one after the other, with one json-c tokener that it owns and reuses.
///
/// Strict: what is read is exactly RFC 8259 in well-formed UTF-8, within ``JSONLimits``, each name once in its object and
/// without NUL, integers within 64 signed bits, no lone surrogates. Takes time in proportion to the text.
/// It belongs to one thread at a time; keep one per loop.
public struct JSONParser: ~Copyable {
    public let limits: JSONLimits
    private let tokener: UnsafeMutablePointer<json_tokener>?

    public init(limits: JSONLimits = .standard) {
        self.limits = limits
        // json-c counts the value inside the innermost container as a level, too.
        tokener = json_tokener_new_ex(Int32(limits.depth) + 1)
        if let tokener { json_tokener_set_flags(tokener, JSON_TOKENER_STRICT) }
    }

    deinit {
        if let tokener { json_tokener_free(tokener) }
    }

    /// The value of one whole text; white space around it is ignored. The bytes are not kept.
    ///
    /// Throws ``JSONError`` for anything else; the parser can be used again at once.
    public mutating func parse(_ bytes: UnsafeRawBufferPointer) throws(JSONError) -> JSONValue {
        guard bytes.count <= limits.byteCount else { throw JSONError(.tooLarge, at: limits.byteCount) }
        var scanner = JSONScanner(bytes, maximumDepth: limits.depth)
        try scanner.scan()
        let tree = JSONTree(try build(bytes))
        guard let (value, memberCount) = tree.value() else { throw JSONError(.numberOutOfRange) }
        if memberCount != scanner.memberCount {
            // json-c lets the last of several equal names win, so it has fewer members than the text: look where.
            var finder = JSONScanner(bytes, maximumDepth: limits.depth, comparesNames: true)
            try finder.scan()
            throw JSONError(.duplicateName)
        }
        return value
    }

    /// The same for bytes of any kind.
    public mutating func parse(_ bytes: some Collection<UInt8>) throws(JSONError) -> JSONValue {
        var result: Result<JSONValue, JSONError>?
        bytes.withContiguousStorageIfAvailable { storage in result = parsed(UnsafeRawBufferPointer(storage)) }
        if result == nil { Array(bytes).withUnsafeBytes { storage in result = parsed(storage) } }
        guard let result else { throw JSONError(.outOfMemory) }
        return try result.get()
    }

    /// The same as a result, for closures that cannot throw a typed error.
    private mutating func parsed(_ bytes: UnsafeRawBufferPointer) -> Result<JSONValue, JSONError> {
        do throws(JSONError) { return .success(try parse(bytes)) } catch { return .failure(error) }
    }

    /// Hands the text, known to be well formed, to json-c. Returns nil for `null`, else an object that the caller owns.
    private func build(_ bytes: UnsafeRawBufferPointer) throws(JSONError) -> OpaquePointer? {
        guard let tokener, let start = bytes.bindMemory(to: CChar.self).baseAddress else {
            throw JSONError(.outOfMemory)
        }
        json_tokener_reset(tokener)
        var tree = json_tokener_parse_ex(tokener, start, Int32(bytes.count))
        if tree == nil, json_tokener_get_error(tokener) == json_tokener_continue {
            // A number or a literal as the whole text could go on; a NUL says that it does not.
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
    /// The value of one JSON text; see ``JSONParser``. For many texts, keep a parser instead.
    public init(parsing bytes: some Collection<UInt8>, limits: JSONLimits = .standard) throws(JSONError) {
        var parser = JSONParser(limits: limits)
        self = try parser.parse(bytes)
    }

    /// The value of one JSON text; see ``JSONParser``.
    public init(parsing text: String, limits: JSONLimits = .standard) throws(JSONError) {
        try self.init(parsing: text.utf8, limits: limits)
    }
}
