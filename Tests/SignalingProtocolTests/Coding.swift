import JSONText
import SignalingProtocol
import Testing

/// The message that the server reads from a line.
func readClient(_ line: some Collection<UInt8>) throws(ClientMessageError) -> ClientMessage {
    var parser = JSONParser()
    let bytes = Array(line)
    let result = bytes.withUnsafeBytes { bytes -> Result<ClientMessage, ClientMessageError> in
        do throws(ClientMessageError) { return .success(try ClientMessage(line: bytes, parser: &parser)) } catch {
            return .failure(error)
        }
    }
    return try result.get()
}

func readClient(_ line: String) throws(ClientMessageError) -> ClientMessage { try readClient(Array(line.utf8)) }

/// The message that a client reads from a line; `nil` for one that it ignores.
func readServer(_ line: some Collection<UInt8>) throws(SignalingError) -> ServerMessage? {
    var parser = JSONParser()
    let bytes = Array(line)
    let result = bytes.withUnsafeBytes { bytes -> Result<ServerMessage?, SignalingError> in
        do throws(SignalingError) { return .success(try ServerMessage.decode(line: bytes, parser: &parser)) } catch {
            return .failure(error)
        }
    }
    return try result.get()
}

func readServer(_ line: String) throws(SignalingError) -> ServerMessage? { try readServer(Array(line.utf8)) }

func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

/// Expects that the message is written as this line, and that the line is read as this message.
func expectLine(_ line: String, says message: ClientMessage, _ location: SourceLocation = #_sourceLocation) throws {
    #expect(text(message.encoded()) == line, sourceLocation: location)
    #expect(try readClient(line) == message, sourceLocation: location)
}

func expectLine(_ line: String, says message: ServerMessage, _ location: SourceLocation = #_sourceLocation) throws {
    #expect(text(message.encoded()) == line, sourceLocation: location)
    #expect(try readServer(line) == message, sourceLocation: location)
}
