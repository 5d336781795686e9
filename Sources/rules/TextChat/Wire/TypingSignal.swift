import JSONText
import SignalingProtocol

/// The form of typing signals. Both forms are always read; the policy chooses the one that is written.
public enum TypingWireForm: String, CaseIterable, Sendable {
    /// Type `typing`, data `{"action":"begin|pause|finish","n":1}` (TYP-1).
    case actions = "typing"
    /// Type `TypingBegin`, no data: Easemob's, which has no end (TYP-6).
    case beginOnly = "TypingBegin"

    public var signalType: String { rawValue }
}

/// One typing signal: its sender's action, and its number.
public struct TypingSignal: Hashable, Sendable {
    public let action: TypingAction

    /// Counts the typing signals of one sender: 1, 2, 3, … (TYP-3). Nil from programs that do not number them.
    public let n: Int64?

    /// Higher numbers are not exact in JavaScript and are ignored.
    public static let highestN: Int64 = 1 << 53 - 1

    /// The only connection that gets the signal; nil: all. A signal that was read has nil.
    public let to: ConnectionID?

    public init(_ action: TypingAction, n: Int64? = nil, to: ConnectionID? = nil) {
        self.action = action
        self.n = n
        self.to = to
    }

    /// The signal to all connections, or to one, online-only (TYP-1, TYP-2). In the form ``TypingWireForm/beginOnly``
    /// every action is written as begin.
    public func request(_ form: TypingWireForm) -> SignalRequest {
        switch form {
        case .beginOnly:
            return SignalRequest(type: form.signalType, to: to, isOnlineOnly: true)
        case .actions:
            var members = JSONObject()
            members.append("action", .string(action.word))
            members["n"] = n.map { .integer($0) }
            return SignalRequest(
                type: form.signalType, data: JSONValue.object(members).encodedText(), to: to, isOnlineOnly: true)
        }
    }

    /// Reads a signal; nil if it has another type, is not a JSON object, or has an action that this version does not
    /// know (TYP-4). A number of the wrong kind counts as absent.
    public init?(_ signal: Signal) {
        guard let form = signal.type.flatMap(TypingWireForm.init(rawValue:)) else { return nil }
        switch form {
        case .beginOnly:
            self.init(.begin)
        case .actions:
            guard let members = signal.data.flatMap({ try? JSONValue(parsing: $0) }),
                let action = members["action"]?.stringValue.flatMap(TypingAction.init(word:))
            else { return nil }
            self.init(action, n: Self.number(members["n"]))
        }
    }

    /// Reads the number of a typing signal or a chat message: a whole number from 0 to ``highestN``; else nil.
    public static func number(_ value: JSONValue?) -> Int64? {
        // As in JavaScript, 1 and 1.0 are the same.
        guard let number = value?.doubleValue, number >= 0, number <= Double(highestN), number == number.rounded()
        else {
            return nil
        }
        return Int64(number)
    }
}
