import JSONText
import SignalingProtocol

#if SIGNALBOX_JSONC
    import JSONC
#endif

/// Text that is read is written and read as the same value. json-c reads it as the same, or refuses it with the same
/// fault.
func fuzzJSON(_ bytes: UnsafeRawBufferPointer) {
    #if SIGNALBOX_JSONC
        var ours = JSONParser()
        var judge = JSONCParser()
        let results = (
            Result { () throws(JSONError) in try ours.parse(bytes).encoded() },
            Result { () throws(JSONError) in try judge.parse(bytes).encoded() }
        )
        precondition(results.0 == results.1, "Swift and json-c differ: \(results)")
    #endif
    guard let value = try? JSONValue(parsing: bytes) else { return }
    let written = value.encoded()
    guard let again = try? JSONValue(parsing: written) else { preconditionFailure("cannot read what was written") }
    precondition(again == value, "written and read differ")
    precondition(again.encoded() == written, "two ways to write one value")
}

/// A message that is read is written and read as the same message; an error names an id that stands in the line.
func fuzzClientLines(_ bytes: UnsafeRawBufferPointer) {
    var parser = JSONParser(limits: JSONLimits(depth: Limits.jsonDepth, valueCount: Limits.jsonValueCount))
    for line in MessageLines(bytes) {
        precondition(!line.isEmpty && !line.contains(UInt8(ascii: "\n")), "no line")
        do throws(ClientMessageError) {
            let message = try ClientMessage(line: line, parser: &parser)
            let written = message.encoded()
            let again = written.withUnsafeBytes { try? ClientMessage(line: $0, parser: &parser) }
            precondition(again == message, "written and read differ")
        } catch {
            precondition(!error.error.message.isEmpty, "an error without a text")
        }
    }
}
