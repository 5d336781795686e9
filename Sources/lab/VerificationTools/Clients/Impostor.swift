import Foundation
import JSONText

/// A client without the product's library: it can show a secret that the library would never show (RES-6).
struct Impostor: Sendable {
    /// What `connected` said.
    struct Entry: Sendable {
        var connectionId: String
        var epoch: String
        var secret: String
        var seq: Int64
        var outcome: String
    }

    /// How the client ends after `connected`.
    enum End: Sendable {
        /// Its socket is lost: the connection may be resumed.
        case loss
        /// It closes with 1000: the connection is over.
        case departure
    }

    /// How long the server may take for one answer.
    private static let patience = 15

    let port: Int
    let apiKey: String
    let sessionId: String
    let token: String

    /// Connects, sends one more line, which confirms the new secret, and ends.
    ///
    /// - Parameter entry: the connection to resume, with the secret to show; nil for a new connection.
    /// - Returns: nil without a `connected`.
    func connect(resuming entry: Entry? = nil, end: End) async -> Entry? {
        let request = request(resuming: entry)
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: exchange(request, end: end)) }
        }
    }

    private func request(resuming entry: Entry?) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("op", "connect")
        writer.member("id", 1)
        writer.member("apiKey", apiKey)
        writer.member("sessionId", sessionId)
        writer.member("token", token)
        if let entry {
            writer.name("resume")
            writer.beginObject()
            writer.member("connectionId", entry.connectionId)
            writer.member("secret", entry.secret)
            writer.member("epoch", entry.epoch)
            writer.member("after", Int(entry.seq))
            writer.endObject()
        }
        writer.endObject()
        return writer.bytes
    }

    private func exchange(_ request: [UInt8], end: End) -> Entry? {
        guard let connection = RawConnection(port: port, patience: Self.patience) else { return nil }
        defer { connection.close() }
        let head = """
            GET /v1/signaling?sessionId=\(sessionId) HTTP/1.1\r
            Host: 127.0.0.1:\(port)\r
            Connection: Upgrade\r
            Upgrade: websocket\r
            Sec-WebSocket-Version: 13\r
            Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r
            Sec-WebSocket-Protocol: signalbox.v1\r
            \r

            """
        var reader = TappedMessages()
        guard connection.send(Array(head.utf8)) else { return nil }
        // The server reads no frame before its handshake.
        while !reader.hasReadHead {
            guard let bytes = connection.receive() else { return nil }
            _ = reader.append(bytes)
        }
        guard connection.send(Self.frame(opcode: 1, request)) else { return nil }
        while let bytes = connection.receive() {
            let lines = reader.append(bytes).flatMap { $0.split(separator: UInt8(ascii: "\n")) }
            guard let entry = lines.lazy.compactMap(Self.entry).first else {
                if reader.close != nil { return nil }
                continue
            }
            _ = connection.send(Self.frame(opcode: 1, Array(#"{"op":"pong"}"#.utf8)))
            if end == .departure { _ = connection.send(Self.frame(opcode: 8, [0x03, 0xE8])) }
            // A reset would discard the line above.
            connection.endSending()
            while connection.receive() != nil {}
            return entry
        }
        return nil
    }

    private static func entry(_ line: ArraySlice<UInt8>) -> Entry? {
        guard case .object(let object)? = try? JSONValue(parsing: line), object["ev"]?.stringValue == "connected",
            let id = object["connection"]?.objectValue?["connectionId"]?.stringValue,
            let epoch = object["epoch"]?.stringValue, let seq = object["seq"]?.integerValue,
            let outcome = object["outcome"]?.stringValue,
            let secret = object["resume"]?.objectValue?["secret"]?.stringValue
        else { return nil }
        return Entry(connectionId: id, epoch: epoch, secret: secret, seq: seq, outcome: outcome)
    }

    /// One masked frame (RFC 6455, section 5.2). The mask is zero, so the payload stays as it is.
    private static func frame(opcode: UInt8, _ payload: [UInt8]) -> [UInt8] {
        let length: [UInt8] =
            payload.count < 126
            ? [0x80 | UInt8(payload.count)]
            : [0x80 | 126, UInt8(payload.count >> 8 & 0xFF), UInt8(payload.count & 0xFF)]
        return [0x80 | opcode] + length + [0, 0, 0, 0] + payload
    }
}
