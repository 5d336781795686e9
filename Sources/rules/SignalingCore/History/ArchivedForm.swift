import SignalingProtocol

/// What a message of an archive says now (CHG-8), or what users think of it (CHG-13): a part of its content.
///
/// A message's content is `,"type":…,"data":…`, behind an edit `,"changed":…,"edited":…`, and behind reactions
/// `,"reactions":[…],"reacted":…`. So the rows of an archive need no fields for them. No client can write the names of
/// members into its content: JSON escapes the quotation marks of its texts.
public struct ArchivedForm: Hashable, Sendable {
    /// Of the message.
    public let seq: Seq
    /// One part: `,"type":…,"data":…,"changed":…,"edited":…`, or `,"reactions":[…],"reacted":…`.
    public let content: [UInt8]

    /// - Parameter content: ends with the part's version. Otherwise it replaces nothing.
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

    /// - Parameter version: the seq of the event that told the reactions.
    public init(seq: Seq, _ counts: [ReactionCount], reacted version: Seq) {
        self.init(seq: seq, content: ReactionCount.encode(counts, reacted: version))
    }

    /// The seq of the change; `nil` for content without one. Of two forms of the same part the greater version counts.
    public var version: Seq? { isReactions ? Self.reacted(in: content[...]) : Self.edited(in: content[...]) }

    fileprivate var isReactions: Bool { content.starts(with: Self.reactionsStart) }

    private static let reactionsStart = Array(#","reactions":["#.utf8)

    fileprivate static func edited(in content: ArraySlice<UInt8>) -> Seq? {
        var rest = content
        guard rest.removeNumber() != nil else { return nil }
        if rest.last == UInt8(ascii: "-") { rest.removeLast() }
        guard rest.removeEnd(#","edited":"#), let version = rest.removeNumber(), rest.removeEnd(#","changed":"#)
        else { return nil }
        return seq(version)
    }

    fileprivate static func reacted(in content: ArraySlice<UInt8>) -> Seq? {
        var rest = content
        guard let version = rest.removeNumber(), rest.removeEnd(#","reacted":"#) else { return nil }
        return seq(version)
    }

    private static func seq(_ number: Int64) -> Seq? {
        (Seq.zero...Seq.greatest).contains(Seq(number)) ? Seq(number) : nil
    }

    /// Where the reactions begin in a message's content: at its end if it has none.
    fileprivate static func reactionsIndex(in content: [UInt8]) -> Int {
        guard reacted(in: content[...]) != nil else { return content.endIndex }
        return content.firstRange(of: reactionsStart)?.lowerBound ?? content.endIndex
    }
}

extension ArchivedMessage {
    /// The type of the signal; `nil` if it has none, and of an erased message. No type has a character that JSON escapes.
    public var type: String? {
        let start = Array(#","type":"#.utf8) + [UInt8(ascii: "\"")]
        guard let content, content.starts(with: start) else { return nil }
        return String(decoding: content[start.count...].prefix { $0 != UInt8(ascii: "\"") }, as: UTF8.self)
    }

    /// The seq of the last edit; `nil` if there was none, and of an erased message.
    public var version: Seq? {
        content.flatMap { ArchivedForm.edited(in: $0[..<ArchivedForm.reactionsIndex(in: $0)]) }
    }

    /// The message as the form has it; `nil` if the form is older or the same, of another message, or of an erased one.
    public func changed(to form: ArchivedForm) -> ArchivedMessage? {
        guard form.seq == seq, let content, let version = form.version else { return nil }
        let index = ArchivedForm.reactionsIndex(in: content)
        let (said, reactions) = (content[..<index], content[index...])
        let known = form.isReactions ? ArchivedForm.reacted(in: reactions) : ArchivedForm.edited(in: said)
        guard known.map({ $0 < version }) ?? true else { return nil }
        let changed = form.isReactions ? Array(said) + form.content : form.content + Array(reactions)
        return ArchivedMessage(seq: seq, time: time, head: head, content: changed)
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
