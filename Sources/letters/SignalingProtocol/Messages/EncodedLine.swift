import JSONText

/// A server message, encoded once as the bytes that all its receivers get, without a newline.
///
/// A signal's line also holds the encoded connection of the sender and the offset at which to insert it. Clients that
/// suppress connection events get the connection with each signal (SIG-9), and the line is not encoded again for them.
public struct EncodedLine: Sendable {
    public let bytes: [UInt8]
    private let senderOffset: Int
    private let sender: [UInt8]

    public init(_ message: ServerMessage) {
        // Most messages to one client are short.
        var writer = JSONWriter(reservingCapacity: 64)
        message.write(to: &writer)
        bytes = writer.bytes
        senderOffset = 0
        sender = []
    }

    /// A line without a sender.
    init(json: [UInt8]) { (bytes, senderOffset, sender) = (json, 0, []) }

    /// - Parameter encodedSender: the sender's connection as ``encode(_:)`` returns it; `nil` for a signal by REST.
    public init(_ event: SignalEvent, encodedSender: [UInt8]?) {
        // Enough if nothing has to be escaped.
        var writer = JSONWriter(reservingCapacity: 160 + (event.type?.utf8.count ?? 0) + (event.data?.utf8.count ?? 0))
        writer.beginObject()
        event.writeHead(to: &writer)
        senderOffset = writer.byteCount
        event.writeTail(to: &writer)
        writer.endObject()
        bytes = writer.bytes
        sender = encodedSender ?? []
    }

    /// - Parameter encodedSender: as for a signal.
    public init(_ event: ChangeEvent, encodedSender: [UInt8]?) {
        var writer = JSONWriter(reservingCapacity: 256)
        writer.beginObject()
        event.writeHead(to: &writer)
        senderOffset = writer.byteCount
        event.writeTail(to: &writer)
        writer.endObject()
        bytes = writer.bytes
        sender = encodedSender ?? []
    }

    /// `,"connection":{…}`: the bytes to insert into a signal.
    public static func encode(_ sender: Connection) -> [UInt8] {
        var writer = JSONWriter()
        sender.write(to: &writer)
        return senderName + writer.bytes
    }

    /// No line at all.
    public static let nothing = EncodedLine(json: [])

    private static let senderName = Array(#","connection":"#.utf8)

    /// The connection alone, `{…}`, out of the bytes that ``encode(_:)`` returned.
    public static func connection(in encodedSender: [UInt8]) -> ArraySlice<UInt8> {
        encodedSender.dropFirst(senderName.count)
    }

    /// Appends a page of the list of connections to the text message that begins at `start` (CON-11).
    ///
    /// - Parameters:
    ///   - lists: encoded connections, each list with commas between them; none is empty.
    ///   - rest: the number of connections in later pages.
    public static func appendConnectionPage(
        _ lists: some Sequence<[UInt8]>, rest: Int, to message: inout [UInt8], separatedFrom start: Int
    ) {
        if message.count > start { message.append(UInt8(ascii: "\n")) }
        message.append(contentsOf: #"{"ev":"connections","connections":["#.utf8)
        var needsComma = false
        for list in lists {
            if needsComma { message.append(UInt8(ascii: ",")) }
            message.append(contentsOf: list)
            needsComma = true
        }
        message.append(contentsOf: #"],"rest":\#(rest)}"#.utf8)
    }

    /// A line that was saved before.
    ///
    /// - Parameter insertion: the value that ``insertion`` had. Returns `nil` when its offset is outside of the line.
    public init?(bytes: [UInt8], insertion: (bytes: [UInt8], offset: Int)?) {
        guard (0...bytes.count).contains(insertion?.offset ?? 0) else { return nil }
        self.bytes = bytes
        sender = insertion?.bytes ?? []
        senderOffset = insertion?.offset ?? 0
    }

    /// The sender's connection as ``encode(_:)`` returns it, and its offset in bytes; `nil` for a line without a
    /// sender.
    public var insertion: (bytes: [UInt8], offset: Int)? { sender.isEmpty ? nil : (sender, senderOffset) }

    public var byteCount: Int { bytes.count }

    /// A signal's line in the parts of a message of the history (HIS-6): `{"seq":…,"from":…` with the sender's
    /// connection, and `,"type":…,"data":…`. `nil` for any other line.
    public var historyParts: (head: [UInt8], content: [UInt8])? {
        guard bytes.starts(with: Self.signalStart), let end = headEnd else { return nil }
        let head = [UInt8(ascii: "{")] + bytes[Self.signalStart.count..<end] + sender
        return (head, Array(bytes[end..<(bytes.count - 1)]))
    }

    /// The signal's line without what it says.
    public var withoutContent: EncodedLine {
        guard let end = headEnd else { return self }
        return EncodedLine(
            bytes: bytes[..<end] + [UInt8(ascii: "}")], insertion: sender.isEmpty ? nil : (sender, end)) ?? self
    }

    private static let signalStart = Array(#"{"ev":"signal","#.utf8)
    private static let noSender = Array(#""from":null"#.utf8)

    /// Where a signal's type and data begin.
    private var headEnd: Int? {
        if !sender.isEmpty { return senderOffset }
        // A signal by REST: the name of the member is behind the seq, whose digits hold no quotation mark.
        var index = Self.signalStart.count
        while index + Self.noSender.count < bytes.count {
            if bytes[index...].starts(with: Self.noSender) { return index + Self.noSender.count }
            index += 1
        }
        return nil
    }

    /// Appends this line to a text message, after a newline unless it is the message's first line (WIRE-3).
    ///
    /// - Parameters:
    ///   - withSender: whether to insert the sender's connection.
    ///   - start: the index in `message` at which the text message begins.
    public func append(to message: inout [UInt8], withSender: Bool, separatedFrom start: Int) {
        guard withSender, !sender.isEmpty else {
            Self.append(bytes, to: &message, separatedFrom: start)
            return
        }
        if message.count > start { message.append(UInt8(ascii: "\n")) }
        message.append(contentsOf: bytes[..<senderOffset])
        message.append(contentsOf: sender)
        message.append(contentsOf: bytes[senderOffset...])
    }

    /// Appends an encoded line to the text message that begins at `start`, after a newline unless it is the first.
    public static func append(_ line: [UInt8], to message: inout [UInt8], separatedFrom start: Int) {
        if message.count > start { message.append(UInt8(ascii: "\n")) }
        message.append(contentsOf: line)
    }
}

/// `connected`, encoded with the client's own connection alone, so that the other connections can be inserted into its
/// list without encoding them again (CON-11).
public struct EncodedWelcome: Sendable {
    public let bytes: [UInt8]
    /// The offset at which the other connections belong, each with a comma behind it.
    public let listOffset: Int

    public init(_ welcome: Welcome, answering id: RequestID) {
        var writer = JSONWriter()
        writer.beginObject()
        listOffset = welcome.write(answering: id, to: &writer)
        writer.endObject()
        bytes = writer.bytes
    }
}
