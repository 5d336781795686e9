import JSONText

#if SIGNALBOX_JSONC
    import JSONC
#endif

/// Reads the JSON of request bodies and settings with json-c, which more programs have tested than our own parser.
/// ``JSONParser`` reads messages. A server that is built with `SIGNALBOX_JSON=swift` has only that one.
struct DocumentParser: ~Copyable {
    #if SIGNALBOX_JSONC
        private var parser: JSONCParser
        init(limits: JSONLimits = .standard) { parser = JSONCParser(limits: limits) }
    #else
        private var parser: JSONParser
        init(limits: JSONLimits = .standard) { parser = JSONParser(limits: limits) }
    #endif

    mutating func parse(_ bytes: some Collection<UInt8>) throws(JSONError) -> JSONValue { try parser.parse(bytes) }
}
