import JSONText
import SignalingProtocol

@testable import SignalingServer
@testable import SignalingTransport

/// Up to the first newline a path, behind it a body: as JSON, and in chunks. A path has one route with methods. Chunks
/// are read the same way in one piece and byte by byte.
func fuzzRequests(_ bytes: UnsafeRawBufferPointer) {
    let parts = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
    let path = String(decoding: parts[0], as: UTF8.self)
    precondition(!Route(path: path).methods.isEmpty, "a route without a method")
    // Two are permitted before and one behind a backend's path.
    precondition(isFile(Route(path: path + "//")) && isFile(Route(path: "///" + path)), "two spellings of a route")
    guard parts.count == 2 else { return }
    let body = Array(parts[1])
    var parser = JSONParser(
        limits: JSONLimits(
            depth: Limits.jsonDepth, byteCount: Limits.bodyByteCount, valueCount: Limits.bodyValueCount))
    if let object = (try? parser.parse(body))?.objectValue { _ = object["type"]?.stringValue?.utf16.count }
    var whole = ChunkedBody(limit: 1000)
    var pieces = ChunkedBody(limit: 1000)
    let outcome = whole.append(body)
    var last = ChunkedBody.Outcome.wantsMore
    for byte in body where last == .wantsMore { last = pieces.append(CollectionOfOne(byte)) }
    precondition(outcome == last, "chunks in pieces: \(last), at once: \(outcome)")
    if outcome == .complete { precondition(whole.bytes == pieces.bytes && whole.bytes.count <= 1000, "chunks differ") }
}

private func isFile(_ route: Route) -> Bool {
    if case .file = route { return true }
    return false
}

/// A verdict does not change when more bytes follow, and is the same for the header's own bytes alone.
func fuzzHTTPHeads(_ bytes: UnsafeRawBufferPointer) {
    let final = RequestHeadCheck.verdict(on: bytes)
    if case .accept(let count) = final {
        precondition(count <= bytes.count && RequestHeadCheck.verdict(on: bytes.prefix(count)) == final, "not its head")
        precondition(bytes.prefix(count).allSatisfy { $0 != 0 }, "a NUL was accepted")
        precondition(Opening(request: bytes) != .incomplete, "a head that never arrives")
    }
    if let head = RequestHeadCheck.inspect(bytes).originForm {
        let again = head.withUnsafeBytes { RequestHeadCheck.inspect($0) }
        precondition(again.verdict == .accept(headByteCount: head.count) && again.originForm == nil, "no origin form")
    }
    let proxy = ProxyHeader.verdict(on: bytes)
    for count in [bytes.count / 4, bytes.count / 2, bytes.count - min(1, bytes.count)] {
        let early = RequestHeadCheck.verdict(on: bytes.prefix(count))
        precondition(early == .incomplete || early == final, "the verdict \(early) becomes \(final)")
        let earlyProxy = ProxyHeader.verdict(on: bytes.prefix(count))
        precondition(earlyProxy == .incomplete || earlyProxy == proxy, "the verdict \(earlyProxy) becomes \(proxy)")
    }
    if case .complete(let count, _) = proxy { precondition(count <= bytes.count && count <= ProxyHeader.byteLimit) }
    _ = ForwardedHeader.nodes(bytes)
    _ = Opening(greeting: bytes)
}

/// The first byte is the number of fragments, and the next ones their lengths. The pieces make the same message as the
/// whole, and it is UTF-8 by Swift's own rules.
func fuzzWebSockets(_ bytes: UnsafeRawBufferPointer) {
    guard let count = bytes.first.map({ Int($0 % 8) + 1 }), bytes.count > count else { return }
    let lengths = bytes[1..<count].map(Int.init)
    let text = Array(bytes[count...])
    let isText = String(validating: text, as: UTF8.self) != nil
    text.withUnsafeBytes { precondition(isValidUTF8($0) == isText, "UTF-8 is judged otherwise") }
    var assembler = MessageAssembler(byteLimit: 1000, fragmentLimit: 64)
    var start = 0
    for (index, length) in (lengths + [text.count]).enumerated() {
        let isLast = index == lengths.count
        let end = isLast ? text.count : min(text.count, start + length)
        let outcome = text[start..<end].withUnsafeBytes {
            assembler.append(
                .init(bytes: $0, isFirst: index == 0, isFinal: isLast, isBinary: false, remainingInFrame: 0))
        }
        switch outcome {
        case .incomplete: break
        case .wholePiece: precondition(isText && lengths.isEmpty && text.count <= 1000, "not a whole message")
        case .joined(let message, let frameCount):
            precondition(isText && message == text && (frameCount > 1) == !lengths.isEmpty, "joined otherwise")
        case .violation(.invalidUTF8): precondition(!isText, "UTF-8 was refused")
        case .violation(let violation): precondition(violation == .messageTooBig && text.count > 1000)
        }
        start = end
    }
    let refusal = CloseFrame.refusal(of: bytes)
    if bytes.count >= 2, !bytes.dropFirst(2).isEmpty, refusal == nil {
        precondition(String(validating: bytes.dropFirst(2), as: UTF8.self) != nil, "a reason that is not text")
    }
    precondition(CloseFrame.reasonBytes(CloseFrame.reason(in: bytes)).count <= CloseFrame.reasonByteLimit)
}
