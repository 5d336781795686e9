import CJSONC
import JSONText

/// Reads JSON texts with one json-c tokener that it owns and reuses, by the same rules as ``JSONParser``.
///
/// The scanner checks each text first. json-c's strict mode accepts texts that the protocol forbids (single quotes,
/// `NaN`, raw control characters, `1.`, overlong UTF-8, numbers that it clamps, lone surrogates, duplicate names), and
/// cuts names at NUL. In 0.18 it also refuses every text with a character beyond ASCII. So the mode stays off.
///
/// Use a parser on one thread at a time.
package struct JSONCParser: ~Copyable {
    private let limits: JSONLimits
    private let tokener: UnsafeMutablePointer<json_tokener>?

    package init(limits: JSONLimits = .standard) {
        self.limits = limits
        // json-c counts the value inside of the innermost container as one more level.
        tokener = json_tokener_new_ex(Int32(limits.depth) + 1)
    }

    deinit {
        if let tokener { json_tokener_free(tokener) }
    }

    /// See ``JSONParser/parse(_:)``.
    package mutating func parse(_ bytes: UnsafeRawBufferPointer) throws(JSONError) -> JSONValue {
        let nameCount = try JSONRules.check(bytes, limits: limits)
        let tree = JSONTree(try build(bytes))
        guard let (value, memberCount) = tree.value() else { throw JSONError(.numberOutOfRange) }
        if memberCount != nameCount {
            // json-c keeps the last of several equal names, so its tree has fewer members than the text.
            throw JSONRules.duplicateName(bytes, limits: limits)
        }
        return value
    }

    /// The same for any collection of bytes.
    package mutating func parse(_ bytes: some Collection<UInt8>) throws(JSONError) -> JSONValue {
        try bytes.withRawBytes { bytes in
            Result { () throws(JSONError) in try parse(bytes) }
        }.get()
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
