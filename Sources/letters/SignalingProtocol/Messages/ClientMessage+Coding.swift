import JSONText

/// The refusal of a line that is not a valid message, with the request's ID if the line has a readable one (WIRE-8).
public struct ClientMessageError: Error, Hashable, Sendable {
    public let id: RequestID?
    public let error: SignalingError
    /// Whether the line counts as malformed (WIRE-9): not if a member has the right type, and a value that no request may
    /// have.
    public let isMalformed: Bool

    public init(id: RequestID?, _ error: SignalingError, isMalformed: Bool = true) {
        self.id = id
        self.error = error
        self.isMalformed = isMalformed
    }
}

extension ClientMessage {
    /// Reads one line. Checks its shape only: the session checks the limits, in the order of SIG-5.
    ///
    /// - Throws: `invalidParameter` when the line is not JSON (WIRE-4), is not an object, has a member of the wrong
    ///   type (WIRE-7), or has an unknown `op` (WIRE-6).
    public init(line: UnsafeRawBufferPointer, parser: inout JSONParser) throws(ClientMessageError) {
        if let signal = Self.signal(in: line, &parser) {
            self = signal
            return
        }
        let value: JSONValue
        do {
            value = try parser.parse(line)
        } catch {
            throw ClientMessageError(id: nil, SignalingError(.invalidParameter, "the line is not JSON: \(error)"))
        }
        guard let object = value.objectValue else {
            throw ClientMessageError(id: nil, SignalingError(.invalidParameter, "the line is not a JSON object"))
        }
        try self.init(MessageReader(object))
    }

    /// Reads a signal without building the values of the line: nearly all lines are signals. `nil` for any other line,
    /// and for every line with a fault, which the general reader names.
    private static func signal(in line: UnsafeRawBufferPointer, _ parser: inout JSONParser) -> ClientMessage? {
        guard mayBeSignal(line), let members = parser.members(of: line), members.isText("op", "signal"),
            case .integer(let id)? = members["id"]
        else { return nil }
        do throws(UnreadMember) {
            return .signal(
                RequestID(id),
                SignalRequest(
                    type: try members.text("type"), data: try members.text("data"),
                    to: try members.text("to").map { ConnectionID($0) },
                    isOnlineOnly: try members.bool("onlineOnly") ?? false, isJSON: try members.bool("json") ?? false))
        } catch { return nil }
    }

    /// Whether the line has `"signal"` near its start, where clients write `op`. A wrong answer only costs time: the line
    /// is read twice, or by the general reader.
    private static func mayBeSignal(_ line: UnsafeRawBufferPointer) -> Bool {
        let last = min(line.count - MemoryLayout<UInt64>.size, 40)
        var offset = 1
        while offset <= last {
            if line.loadUnaligned(fromByteOffset: offset, as: UInt64.self) == quotedSignal { return true }
            offset += 1
        }
        return false
    }

    /// The eight bytes `"signal"`.
    private static let quotedSignal = Array(#""signal""#.utf8).withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }

    private init(_ reader: MessageReader) throws(ClientMessageError) {
        switch try reader.requiredString("op") {
        case "connect":
            self = .connect(try reader.requiredID(), try ConnectRequest(reader))
        case "signal":
            self = .signal(try reader.requiredID(), try SignalRequest(reader))
        case "forceDisconnect":
            self = .forceDisconnect(
                try reader.requiredID(), ConnectionID(try reader.requiredString("connectionId")))
        case "refreshToken":
            self = .refreshToken(try reader.requiredID(), token: try reader.requiredString("token"))
        case "history":
            self = .history(try reader.requiredID(), try HistoryRequest(reader))
        case "change":
            self = .change(try reader.requiredID(), try ChangeRequest(reader))
        case "react":
            self = .react(try reader.requiredID(), try ReactRequest(reader))
        case "reactors":
            self = .reactors(try reader.requiredID(), try ReactorsRequest(reader))
        case "read":
            let id = try reader.requiredID()
            guard let through = try reader.namedSeq("through") else { throw reader.error("\"through\" is missing") }
            self = .read(id, through: through)
        case "erase":
            self = .erase(try reader.requiredID(), try Erasure(reader))
        case "moderate":
            self = .moderate(try reader.requiredID(), try ModerationRequest(reader))
        case "restrictions":
            self = .restrictions(try reader.requiredID())
        case "streams":
            self = .streams(
                try reader.requiredID(),
                try reader.requiredObjects("streams").map { (inner) throws(ClientMessageError) in
                    try AnnouncedStream(inner)
                })
        case "disconnect":
            self = .disconnect(try reader.requiredID())
        case "pong":
            self = .pong
        default:
            // An error message never repeats a client's text.
            throw reader.error(
                "\"op\" is unknown: use \"connect\", \"signal\", \"forceDisconnect\", \"refreshToken\", \"history\", "
                    + "\"change\", \"react\", \"reactors\", \"read\", \"erase\", \"moderate\", \"restrictions\", \"streams\", "
                    + "\"disconnect\" or \"pong\"")
        }
    }

    /// The message as one line of JSON, without a newline.
    public func encoded() -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        switch self {
        case .connect(let id, let request):
            writer.member("op", "connect")
            writer.member("id", id.rawValue)
            request.write(to: &writer)
        case .signal(let id, let request):
            writer.member("op", "signal")
            writer.member("id", id.rawValue)
            if let type = request.type { writer.member("type", type) }
            if let data = request.data { writer.member("data", data) }
            if request.isJSON { writer.member("json", true) }
            if let to = request.to { writer.member("to", to.rawValue) }
            if request.isOnlineOnly { writer.member("onlineOnly", true) }
        case .forceDisconnect(let id, let target):
            writer.member("op", "forceDisconnect")
            writer.member("id", id.rawValue)
            writer.member("connectionId", target.rawValue)
        case .refreshToken(let id, let token):
            writer.member("op", "refreshToken")
            writer.member("id", id.rawValue)
            writer.member("token", token)
        case .history(let id, let request):
            writer.member("op", "history")
            writer.member("id", id.rawValue)
            request.write(to: &writer)
        case .change(let id, let request):
            writer.member("op", "change")
            writer.member("id", id.rawValue)
            request.writeMembers(to: &writer)
        case .react(let id, let request):
            writer.member("op", "react")
            writer.member("id", id.rawValue)
            request.writeMembers(to: &writer)
        case .reactors(let id, let request):
            writer.member("op", "reactors")
            writer.member("id", id.rawValue)
            request.writeMembers(to: &writer)
        case .read(let id, let through):
            writer.member("op", "read")
            writer.member("id", id.rawValue)
            writer.member("through", through.rawValue)
        case .erase(let id, let erasure):
            writer.member("op", "erase")
            writer.member("id", id.rawValue)
            erasure.writeMembers(to: &writer)
        case .moderate(let id, let request):
            writer.member("op", "moderate")
            writer.member("id", id.rawValue)
            request.writeMembers(to: &writer)
        case .restrictions(let id):
            writer.member("op", "restrictions")
            writer.member("id", id.rawValue)
        case .streams(let id, let streams):
            writer.member("op", "streams")
            writer.member("id", id.rawValue)
            writer.member("streams", streams)
        case .disconnect(let id):
            writer.member("op", "disconnect")
            writer.member("id", id.rawValue)
        case .pong:
            writer.member("op", "pong")
        }
        writer.endObject()
        return writer.bytes
    }
}

/// A member of another type than expected.
private struct UnreadMember: Error {}

extension JSONMembers {
    /// Whether the member is this text, written without escapes.
    fileprivate func isText(_ name: StaticString, _ text: StaticString) -> Bool {
        guard case .text(let content, false)? = self[name] else { return false }
        return content.elementsEqual(
            UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    fileprivate func text(_ name: StaticString) throws(UnreadMember) -> String? {
        switch self[name] {
        case nil: return nil
        case .text(let content, let hasEscapes)?: return JSONMembers.text(content, hasEscapes: hasEscapes)
        case .null?, .bool?, .integer?, .double?, .container?: throw UnreadMember()
        }
    }

    fileprivate func bool(_ name: StaticString) throws(UnreadMember) -> Bool? {
        switch self[name] {
        case nil: return nil
        case .bool(let truth)?: return truth
        case .null?, .text?, .integer?, .double?, .container?: throw UnreadMember()
        }
    }
}

extension ConnectRequest {
    init(_ reader: MessageReader) throws(ClientMessageError) {
        self.init(
            apiKey: APIKey(try reader.requiredString("apiKey")),
            sessionId: SessionID(try reader.requiredString("sessionId")),
            token: try reader.requiredString("token"))
        if let options = try reader.object("options") {
            connectionEventsSuppressed = try options.bool("connectionEventsSuppressed") ?? false
            connectionPages = try options.bool("connectionPages") ?? false
            connectionAwayEvents = try options.bool("connectionAwayEvents") ?? false
            streamEvents = try options.bool("streamEvents") ?? false
            if let history = try options.object("history") { self.history = try HistoryRequest(option: history) }
        }
        if let resume = try reader.object("resume") {
            self.resume = ResumeRequest(
                connectionId: ConnectionID(try resume.requiredString("connectionId")),
                secret: ResumeSecret(try resume.requiredString("secret")),
                epoch: Epoch(try resume.requiredString("epoch")),
                // Any integer is accepted (RES-3).
                after: Seq(max(0, try resume.requiredInteger("after"))))
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.member("apiKey", apiKey.rawValue)
        writer.member("sessionId", sessionId.rawValue)
        writer.member("token", token)
        if connectionEventsSuppressed || connectionPages || connectionAwayEvents || streamEvents || history != nil {
            writer.name("options")
            writer.beginObject()
            if connectionEventsSuppressed { writer.member("connectionEventsSuppressed", true) }
            if connectionPages { writer.member("connectionPages", true) }
            if connectionAwayEvents { writer.member("connectionAwayEvents", true) }
            if streamEvents { writer.member("streamEvents", true) }
            if let history { history.writeOption(to: &writer) }
            writer.endObject()
        }
        if let resume {
            writer.name("resume")
            writer.beginObject()
            writer.member("connectionId", resume.connectionId.rawValue)
            writer.member("secret", resume.secret.rawValue)
            writer.member("epoch", resume.epoch.rawValue)
            writer.member("after", resume.after.rawValue)
            writer.endObject()
        }
    }
}

extension SignalRequest {
    init(_ reader: MessageReader) throws(ClientMessageError) {
        self.init(
            type: try reader.string("type"), data: try reader.string("data"),
            to: try reader.string("to").map { ConnectionID($0) },
            isOnlineOnly: try reader.bool("onlineOnly") ?? false, isJSON: try reader.bool("json") ?? false)
    }
}
