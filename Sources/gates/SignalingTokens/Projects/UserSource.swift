import JSONText
import SignalingProtocol

/// Where tokens that name no user have their user ID (USR-1): in the connection data, which OpenTok's SDKs can write.
public enum UserSource: Hashable, Sendable {
    /// The whole connection data is the user ID.
    case connectionData
    /// The connection data is a JSON object, and this member of it is the user ID, if it is a string or an integer.
    case member(String)

    private static let name = "connectionData"

    /// Reads the setting `userFrom`: `connectionData`, or `connectionData.NAME`. Returns `nil` for another text.
    public init?(setting: String) {
        if setting == Self.name {
            self = .connectionData
        } else if setting.hasPrefix(Self.name + "."), setting.utf8.count > Self.name.utf8.count + 1 {
            self = .member(String(setting.dropFirst(Self.name.count + 1)))
        } else {
            return nil
        }
    }

    /// The user that the connection data names; `nil` for data of another form, and for a text that is no user ID.
    ///
    /// - Parameter connectionData: of a verified token, so its length is bounded.
    func user(in connectionData: String) -> UserID? {
        let text: String? =
            switch self {
            case .connectionData: connectionData
            case .member(let name): Self.text(of: name, in: connectionData)
            }
        return text.flatMap { UserID.isValid($0) ? UserID($0) : nil }
    }

    /// Strict JSON: of two members with one name, the backend's reader might take the other one.
    private static func text(of name: String, in connectionData: String) -> String? {
        // Most data that is no object is seen by its first character.
        guard connectionData.utf8.contains(UInt8(ascii: "{")),
            let value = try? JSONValue(parsing: connectionData, limits: limits)
        else { return nil }
        return switch value[name] {
        case .string(let text): text
        case .integer(let number): String(number)
        case nil, .null, .bool, .double, .array, .object: nil
        }
    }

    private static let limits = JSONLimits(
        depth: Limits.jsonDepth, byteCount: 3 * Limits.connectionDataLength, valueCount: Limits.jsonValueCount)
}
