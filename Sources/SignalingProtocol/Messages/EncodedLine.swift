import JSONText

/// A message of the server, encoded once as the bytes that go to its receivers, without a newline.
///
/// For a signal it also holds where the sender's connection would stand, and its bytes: those who suppress connection
/// events get it with each signal (SIG-9), and nothing is encoded a second time for them.
public struct EncodedLine: Sendable {
    public let bytes: [UInt8]
    private let senderOffset: Int
    private let sender: [UInt8]

    public init(_ message: ServerMessage) {
        var writer = JSONWriter()
        message.write(to: &writer)
        bytes = writer.bytes
        senderOffset = 0
        sender = []
    }

    /// - Parameter encodedSender: the sender's connection as ``encode(_:)`` gives it; `nil` for a signal by REST.
    public init(_ event: SignalEvent, encodedSender: [UInt8]?) {
        var writer = JSONWriter()
        writer.beginObject()
        event.writeHead(to: &writer)
        senderOffset = writer.bytes.count
        event.writeTail(to: &writer)
        writer.endObject()
        bytes = writer.bytes
        sender = encodedSender ?? []
    }

    /// `,"connection":{…}`, as it is inserted into a signal.
    public static func encode(_ sender: Connection) -> [UInt8] {
        var writer = JSONWriter()
        sender.write(to: &writer)
        return Array(#","connection":"#.utf8) + writer.bytes
    }

    /// A line as it was kept.
    ///
    /// - Parameter insertion: as ``insertion`` gave it; nil when its place is outside of the line.
    public init?(bytes: [UInt8], insertion: (bytes: [UInt8], place: Int)?) {
        guard (0...bytes.count).contains(insertion?.place ?? 0) else { return nil }
        self.bytes = bytes
        self.sender = insertion?.bytes ?? []
        senderOffset = insertion?.place ?? 0
    }

    /// The sender's connection as ``encode(_:)`` gives it, and its place in the line; nil where there is none.
    public var insertion: (bytes: [UInt8], place: Int)? { sender.isEmpty ? nil : (sender, senderOffset) }

    public var byteCount: Int { bytes.count }

    /// Appends this line to a text message that began at `start`, after a newline if it is not the first (WIRE-3).
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

    public static func append(_ line: [UInt8], to message: inout [UInt8], separatedFrom start: Int) {
        if message.count > start { message.append(UInt8(ascii: "\n")) }
        message.append(contentsOf: line)
    }
}
