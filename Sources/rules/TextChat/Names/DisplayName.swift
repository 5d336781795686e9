import JSONText
import SignalingProtocol

/// The name of a connection. Its data comes from the token: a bare name, `name=Ada%20Lovelace`, or JSON with a `name`, a
/// `nickname` or the like. For the name over a message see ``NameBook``.
public enum DisplayName {
    /// The name of a user without one; a number follows.
    private static let guest = "Guest"

    private static let longest = 40

    /// How many objects a name may be inside of.
    private static let depth = 3

    /// The members that hold a name, in their order of precedence, in small letters and without `_` and `-`.
    private static let keys = [
        "name", "displayname", "fullname", "nickname", "nick", "username", "screenname", "alias", "clientdata", "user",
        "profile", "participant",
    ]
    private static let firstNameKeys = ["firstname", "givenname"]
    private static let lastNameKeys = ["lastname", "familyname", "surname"]

    /// The name of a connection: in its data, or the user of its token, unless the ID is a code. Without one, `Guest` and
    /// a number, which everybody in the room sees alike (CHAT-4).
    public static func text(data: String?, connectionID: String?, user: UserID? = nil) -> String {
        vouched(data: data ?? "", user: user)
            ?? number(of: user?.rawValue ?? connectionID).map { "\(guest) \($0)" } ?? guest
    }

    /// The name that the server vouches for; nil: none. A guest, who may have chosen the data, cannot have a name that
    /// the chat itself uses, such as `Server`.
    static func vouched(data: String, user: UserID?) -> String? {
        let name = read(from: data)
        guard let user else { return name.flatMap { NameLook.isReserved($0) ? nil : $0 } }
        return name ?? (isCode(user.rawValue) ? nil : read(from: user.rawValue))
    }

    /// Whether nobody would read the user ID as a name: it has no letter, or is as long and mixed as a random one.
    private static func isCode(_ user: String) -> Bool {
        let scalars = user.unicodeScalars
        if !scalars.contains(where: \.isLetter) { return true }
        return user.utf16.count >= 16 && user.utf8.contains { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            && !scalars.contains { $0.properties.isWhitespace }
    }

    /// The name in a connection's data; nil if a reader would see none.
    public static func read(from data: String) -> String? {
        let text = data.plainLine
        let name = nameInJSON(text) ?? nameInPairs(text)
        if name.isBlank { return nil }
        let scalars = name.unicodeScalars
        return scalars.count > longest ? String(scalars.prefix(longest - 1)) + "…" : name
    }

    /// The number is made of the user ID, or of a guest's connection ID, so that all clients agree on it without asking
    /// each other.
    static func number(of id: String?) -> Int? {
        guard let id, !id.isEmpty else { return nil }
        return 1000 + id.unicodeScalars.reduce(0) { ($0 * 31 + Int($1.value)) % 65_521 } % 9000
    }

    /// Nil if the data is not JSON with members; empty if no member holds a name.
    private static func nameInJSON(_ text: String) -> String? {
        guard let first = text.utf8.first, "{[\"".utf8.contains(first) else { return nil }
        return (try? JSONValue(parsing: text)).map { name(in: $0, depth: depth) }
    }

    private static func name(in value: JSONValue, depth: Int) -> String {
        if let text = value.stringValue { return text.plainLine }
        guard depth > 0, let members = value.objectValue else { return "" }
        return name(inMembers: members.map { ($0.name, $0.value) }) { name(in: $0, depth: depth - 1) }
    }

    /// Pairs such as `id=7&name=Ada`. A text that is none is the name itself.
    private static func nameInPairs(_ text: String) -> String {
        let pairs = text.unicodeScalars.split(omittingEmptySubsequences: false) { $0 == "&" || $0 == ";" || $0 == "," }
        let known = pairs.compactMap(pair)
        let name = name(inMembers: known, read: decoded)
        // Several pairs are data for a program, and one pair may be what a user has entered.
        return name.isEmpty && (known.count < pairs.count || pairs.count == 1) ? text : name
    }

    private static func pair(_ text: Substring.UnicodeScalarView) -> (key: String, value: String)? {
        guard let equals = text.firstIndex(of: "=") else { return nil }
        let key = String(text[..<equals]).plainLine
        guard let first = key.utf8.first, isLetter(first), key.utf8.allSatisfy(isOfKey) else { return nil }
        return (key, String(text[equals...].dropFirst()))
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isOfKey(_ byte: UInt8) -> Bool { isLetter(byte) || "0123456789_.-".utf8.contains(byte) }

    /// The first name that shows; empty if there is none.
    private static func name<Value>(inMembers members: [(String, Value)], read: (Value) -> String) -> String {
        let values = Dictionary(members.map { (plain($0.0), $0.1) }) { first, _ in first }
        func first(_ keys: [String]) -> String {
            for key in keys {
                if let name = values[key].map(read), !name.isBlank { return name }
            }
            return ""
        }
        let name = first(keys)
        return name.isEmpty ? "\(first(firstNameKeys)) \(first(lastNameKeys))".plainLine : name
    }

    private static func plain(_ key: String) -> String {
        key.lowercased().filter { $0 != "_" && $0 != "-" }
    }

    /// A value as in the query of an address.
    private static func decoded(_ value: String) -> String {
        var bytes: [UInt8] = []
        var rest = value.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard rest.count >= 2, let escaped = hexadecimal(rest.prefix(2)) else { return value.plainLine }
                bytes.append(escaped)
                rest = rest.dropFirst(2)
            default: bytes.append(byte)
            }
        }
        // Decoding changes only what is not UTF-8.
        let text = String(decoding: bytes, as: UTF8.self)
        return (text.utf8.elementsEqual(bytes) ? text : value).plainLine
    }

    /// `UInt8.init(_:radix:)` would accept a sign.
    private static func hexadecimal(_ digits: some Collection<UInt8>) -> UInt8? {
        digits.reduce(0 as UInt8?) { sum, digit in
            guard let sum, let value = Character(Unicode.Scalar(digit)).hexDigitValue else { return nil }
            return sum << 4 | UInt8(value)
        }
    }
}
