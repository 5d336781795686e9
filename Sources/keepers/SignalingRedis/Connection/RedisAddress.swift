import SignalingCore
import SignalingProtocol

/// Where a Redis is, and how to sign in: `redis://[user][:password@]host[:port][/database]`.
///
/// The password appears in no description.
public struct RedisAddress: Hashable, Sendable, CustomStringConvertible {
    public let host: String
    public let port: Int
    public let database: Int
    let user: String?
    let password: String?

    /// - Parameter text: parts with special characters are percent-encoded; an IPv6 address is in brackets.
    /// - Throws: ``CommandLogFault`` `.badAddress`, whose message does not contain the text, since it may contain a password.
    public init(_ text: String) throws(CommandLogFault) {
        if text.hasPrefix("rediss://") {
            throw Self.fault("TLS is not supported: use redis:// and a TLS tunnel, such as stunnel")
        }
        guard text.hasPrefix("redis://") else { throw Self.fault("the address must begin with redis://") }
        var rest = text.dropFirst("redis://".count)
        guard !rest.contains(where: { $0 == "?" || $0 == "#" || $0.isWhitespace }) else {
            throw Self.fault("the address must not contain spaces, ? or #; percent-encode them in a password")
        }
        var user: String?
        var password: String?
        if let at = rest.lastIndex(of: "@") {
            let parts = rest[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let name = Self.decoded(parts[0]), let secret = Self.decoded(parts[1]) else {
                throw Self.fault("the address must have the form redis://user:password@host")
            }
            user = name.isEmpty ? nil : name
            password = secret
            rest = rest[rest.index(after: at)...]
        }
        let parts = rest.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let databaseText = parts.count == 2 ? parts[1] : ""
        guard let database = databaseText.isEmpty ? 0 : Int(databaseText), (0...65_535).contains(database) else {
            throw Self.fault("the path must be the number of a database")
        }
        (host, port) = try Self.endpoint(parts.first ?? "")
        self.user = user
        self.password = password
        self.database = database
    }

    /// The address without user and password.
    public var description: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return "redis://\(name):\(port)" + (database == 0 ? "" : "/\(database)")
    }

    private static func endpoint(_ text: Substring) throws(CommandLogFault) -> (String, Int) {
        var host = text
        var port: Substring = "6379"
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { throw fault("the bracket of the host is not closed") }
            host = text[text.index(after: text.startIndex)..<end]
            let rest = text[text.index(after: end)...]
            if !rest.isEmpty {
                guard rest.hasPrefix(":") else { throw fault("the host must be followed by a port or a path") }
                port = rest.dropFirst()
            }
        } else if let colon = text.firstIndex(of: ":") {
            host = text[..<colon]
            port = text[text.index(after: colon)...]
        }
        guard !host.isEmpty else { throw fault("the host is missing") }
        guard let number = Int(port), (1...65_535).contains(number) else {
            throw fault("the port must be a number from 1 to 65535")
        }
        return (String(host), number)
    }

    private static func fault(_ reason: String) -> CommandLogFault {
        CommandLogFault(.badAddress, "Cannot use the Redis address: \(reason).")
    }

    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let first = rest.next(), let second = rest.next(), let value = Hexadecimal.decoded([first, second])
            else { return nil }
            bytes += value
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
