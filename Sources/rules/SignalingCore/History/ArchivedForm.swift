import SignalingProtocol

/// What an edited message of an archive says now (CHG-8): content with the edit's seq and date at its end.
///
/// So the rows of an archive need no field for them. The content of any other message ends in `"` or in `"json":true`,
/// and no client can make it end otherwise.
public struct ArchivedForm: Hashable, Sendable {
    /// Of the message.
    public let seq: Seq
    /// `,"type":…,"data":…,"changed":…,"edited":…`
    public let content: [UInt8]

    /// - Parameter content: ends with the version and its date. Otherwise it replaces nothing.
    public init(seq: Seq, content: [UInt8]) {
        self.seq = seq
        self.content = content
    }

    /// - Parameters:
    ///   - content: `,"type":…,"data":…`, as in a message that was not edited.
    ///   - version: the seq of the edit.
    ///   - date: of the edit.
    public init(seq: Seq, content: [UInt8], version: Seq, editedAt date: WallTime) {
        let end = #","changed":\#(version.rawValue),"edited":\#(date.milliseconds)"#
        self.init(seq: seq, content: content + Array(end.utf8))
    }

    /// The seq of the edit; `nil` for content without one. Of two forms of a message the greater version counts.
    public var version: Seq? { Self.version(in: content) }

    static func version(in content: [UInt8]) -> Seq? {
        var rest = content[...]
        guard rest.removeNumber() != nil else { return nil }
        if rest.last == UInt8(ascii: "-") { rest.removeLast() }
        guard rest.removeEnd(#","edited":"#), let version = rest.removeNumber(), rest.removeEnd(#","changed":"#)
        else { return nil }
        return (Seq.zero...Seq.greatest).contains(Seq(version)) ? Seq(version) : nil
    }
}

extension ArchivedMessage {
    /// The seq of the last edit; `nil` if there was none, and of an erased message.
    public var version: Seq? { content.flatMap(ArchivedForm.version(in:)) }

    /// The message as the form has it; `nil` if the form is older or the same, of another message, or of an erased one.
    public func changed(to form: ArchivedForm) -> ArchivedMessage? {
        guard form.seq == seq, content != nil, let version = form.version, self.version.map({ $0 < version }) ?? true
        else { return nil }
        return ArchivedMessage(seq: seq, time: time, head: head, content: form.content)
    }
}

extension ArraySlice<UInt8> {
    /// Removes the decimal digits at the end, as a number is written; `nil` if it is none that JSON numbers can carry.
    fileprivate mutating func removeNumber() -> Int64? {
        let digits = reversed().prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.count
        guard (1...16).contains(digits), digits == 1 || suffix(digits).first != UInt8(ascii: "0") else { return nil }
        defer { removeLast(digits) }
        return Int64(String(decoding: suffix(digits), as: UTF8.self))
    }

    fileprivate mutating func removeEnd(_ text: StaticString) -> Bool {
        let isThere = text.withUTF8Buffer { suffix($0.count).elementsEqual($0) }
        if isThere { removeLast(text.utf8CodeUnitCount) }
        return isThere
    }
}
