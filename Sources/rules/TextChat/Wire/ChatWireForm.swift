import JSONText
import SignalingProtocol

/// The form of a message in a signal. Both forms are read; one of them is written.
public enum ChatWireForm: String, CaseIterable, Sendable {
    /// Type `text-chat`, data JSON: `{"text","sender":{"id","alias"},"sentOn","localId","typingN","re","data"}`. OpenTok's
    /// accelerators read it and ignore the members behind `sentOn`, which only Signalbox has.
    case json = "text-chat"

    /// Type `TextChat`, data the text itself: OpenTok's sample of 2015.
    case bareText = "TextChat"

    public var signalType: String { rawValue }

    /// The message as a signal to all connections.
    public func signal(for message: ChatMessage) -> SignalRequest {
        switch self {
        case .bareText: SignalRequest(type: signalType, data: message.text)
        case .json: SignalRequest(type: signalType, data: Self.encoded(message))
        }
    }

    /// The message in a signal; nil if the signal has another type or no text.
    ///
    /// Reading is lenient, since other programs write messages, too: unknown members and members of the wrong kind are
    /// ignored. `sentOn` may have a fraction, and is `now` if it is missing or not a date. The server's stamp names the
    /// sender; an ID in the data counts only for a signal without a stamp (REST). The name to show is a matter of
    /// ``NameBook``.
    public static func message(from signal: Signal, now: WallTime) -> ChatMessage? {
        guard let form = signal.type.flatMap(ChatWireForm.init(rawValue:)), let data = signal.data else { return nil }
        var message = ChatMessage(
            text: data, senderID: signal.from?.connectionId.rawValue, senderUser: signal.from?.user,
            senderAlias: nonEmpty(signal.from?.data), sentAt: now, receivedAt: now, seq: signal.seq)
        message.note(stamp: signal.from, form)
        switch form {
        case .bareText: break
        case .json:
            guard let members = try? JSONValue(parsing: data), let text = members["text"]?.stringValue else {
                return nil
            }
            let sender = members["sender"]
            message.text = text
            message.senderID = message.senderID ?? nonEmpty(sender?["id"]?.stringValue)
            message.senderAlias = nonEmpty(sender?["alias"]?.stringValue) ?? message.senderAlias
            message.sentAt = moment(members["sentOn"]) ?? now
            message.localID = localID(members["localId"])
            message.typingN = TypingSignal.number(members["typingN"])
            message.replyTo = reply(members["re"], in: signal.seq)
            message.data = addition(members["data"])
        }
        return message
    }

    /// The message of a session's history; nil if it is no chat message. Its `time`, when the server accepted it, stands
    /// for its arrival, so that days are the same as if it had arrived live.
    public static func message(from kept: HistoryMessage) -> ChatMessage? {
        switch kept.content {
        case .signal(let type, let data, _):
            let signal = Signal(type: type, data: data, from: kept.from, seq: kept.seq)
            guard let edit = kept.edit else { return message(from: signal, now: kept.time) }
            guard let form = type.flatMap(ChatWireForm.init(rawValue:)) else { return nil }
            return edition(signal, form, edit, now: kept.time)
        case .erased:
            let signal = Signal(from: kept.from, seq: kept.seq)
            var message = emptyMessage(signal, .json, now: kept.time)
            let alias = message.senderAlias
            message.erase()
            message.senderAlias = alias
            return message
        }
    }

    /// What the data of an edit makes of a message that is shown (CHAT-13).
    static func edition(of shown: ChatMessage, data: String?, _ edit: HistoryMessage.Edit) -> ChatMessage {
        let from =
            shown.isFromServer
            ? nil
            : shown.senderID.map {
                Connection(
                    connectionId: ConnectionID($0), creationTime: WallTime(milliseconds: 0),
                    data: shown.senderData ?? "",
                    user: shown.senderUser)
            }
        let form = shown.stamp.form
        let signal = Signal(type: form.signalType, data: data, from: from, seq: shown.seq)
        return edition(signal, form, edit, now: shown.receivedAt ?? edit.time)
    }

    /// Data that is no message has no text, so that nothing of the former edition stays.
    private static func edition(
        _ signal: Signal, _ form: ChatWireForm, _ edit: HistoryMessage.Edit, now: WallTime
    ) -> ChatMessage {
        var message = message(from: signal, now: now) ?? emptyMessage(signal, form, now: now)
        message.version = edit.seq
        message.editedAt = edit.time
        return message
    }

    private static func emptyMessage(_ signal: Signal, _ form: ChatWireForm, now: WallTime) -> ChatMessage {
        var message = ChatMessage(
            text: "", senderID: signal.from?.connectionId.rawValue, senderUser: signal.from?.user,
            senderAlias: nonEmpty(signal.from?.data), sentAt: now, receivedAt: now, seq: signal.seq)
        message.note(stamp: signal.from, form)
        return message
    }

    private static func encoded(_ message: ChatMessage) -> String {
        var sender = JSONObject()
        sender["id"] = message.senderID.map { .string($0) }
        sender["alias"] = message.senderAlias.map { .string($0) }
        var members = JSONObject()
        members.append("text", .string(message.text))
        members.append("sender", .object(sender))
        members["sentOn"] = message.sentAt.map { .integer($0.milliseconds) }
        members["localId"] = message.localID.map { .string($0.rawValue) }
        members["typingN"] = message.typingN.map { .integer($0) }
        members["re"] = message.replyTo.map { .integer($0.rawValue) }
        members["data"] = message.data
        return JSONValue.object(members).encodedText()
    }

    private static func nonEmpty(_ text: String?) -> String? { text.flatMap { $0.isEmpty ? nil : $0 } }

    private static func localID(_ value: JSONValue?) -> LocalID? {
        guard let text = nonEmpty(value?.stringValue), text.utf8.count <= LocalID.longest else { return nil }
        return LocalID(text)
    }

    /// The message that one with this seq answers; nil for what is no earlier one (CHAT-12).
    private static func reply(_ value: JSONValue?, in seq: Seq?) -> Seq? {
        guard let number = value?.doubleValue, number == number.rounded(), number >= 1,
            number <= Double(Seq.greatest.rawValue)
        else { return nil }
        let reply = Seq(Int64(number))
        return seq.map { reply < $0 } ?? true ? reply : nil
    }

    /// The longest `data` in bytes of JSON (CHAT-11).
    private static let additionByteCount = 4096

    private static func addition(_ value: JSONValue?) -> JSONValue? {
        guard let value, value.objectValue != nil else { return nil }
        return value.encodedText().utf8.count <= additionByteCount ? value : nil
    }

    /// Nil beyond ±100,000,000 days of 1970, the range of JavaScript's dates.
    private static func moment(_ value: JSONValue?) -> WallTime? {
        guard let milliseconds = value?.doubleValue, abs(milliseconds) <= 8.64e15 else { return nil }
        return WallTime(milliseconds: Int64(milliseconds.rounded(.down)))
    }
}
