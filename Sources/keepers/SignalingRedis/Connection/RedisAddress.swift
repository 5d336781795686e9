import SignalingCore
import SignalingProtocol
import SignalingRedisCore

/// Where a Redis is, and how to sign in: `redis://[user][:password@]host[:port][/database]`, or the Sentinels that know where
/// it is: `redis+sentinel://[user][:password@]host[:port],…/name[/database]`. With TLS, `rediss` takes the place of `redis`.
///
/// The password appears in no description.
public struct RedisAddress: Hashable, Sendable, CustomStringConvertible {
    private enum Place: Hashable {
        case known(RedisEndpoint)
        /// The Sentinels, and the name by which they know this Redis.
        case sentinels([RedisEndpoint], name: String)
    }

    public let database: Int
    /// Whether the connections have TLS, also those to Sentinels.
    public let isEncrypted: Bool
    let user: String?
    let password: String?
    let access: RedisAccess
    private let place: Place

    /// - Parameters:
    ///   - text: parts with special characters are percent-encoded; an IPv6 address is in brackets.
    ///   - access: what all addresses have in common.
    /// - Throws: ``CommandLogFault`` `.badAddress`, whose message does not contain the text, since it may contain a password.
    public init(_ text: String, _ access: RedisAccess = RedisAccess()) throws(CommandLogFault) {
        let schemes = ["redis://", "rediss://", "redis+sentinel://", "rediss+sentinel://"]
        guard let scheme = schemes.first(where: text.hasPrefix) else {
            throw Self.fault("the address must begin with redis:// or rediss://, or with redis+sentinel://")
        }
        isEncrypted = scheme.hasPrefix("rediss")
        self.access = access
        var rest = text.dropFirst(scheme.count)
        guard !rest.contains(where: { $0 == "?" || $0 == "#" || $0.isWhitespace }) else {
            throw Self.fault("the address must not contain spaces, ? or #; percent-encode them in a password")
        }
        (user, password) = try Self.signIn(&rest)
        var path = rest.split(separator: "/", omittingEmptySubsequences: false)[...]
        let hosts = path.popFirst() ?? ""
        if scheme.hasSuffix("+sentinel://") {
            guard let name = path.popFirst().flatMap(Self.decoded), !name.isEmpty else {
                throw Self.fault("the address must end with the name by which the Sentinels know the Redis: /NAME")
            }
            var sentinels: [RedisEndpoint] = []
            for host in hosts.split(separator: ",", omittingEmptySubsequences: false) {
                sentinels.append(try Self.endpoint(host, port: 26_379))
            }
            place = .sentinels(sentinels, name: name)
        } else {
            place = .known(try Self.endpoint(hosts, port: 6_379))
        }
        let number = path.popFirst() ?? ""
        guard path.isEmpty, let database = number.isEmpty ? 0 : Int(number), (0...65_535).contains(database) else {
            throw Self.fault("the path must be the number of a database")
        }
        self.database = database
    }

    /// Several addresses, separated by commas, as are the Sentinels of one address.
    public static func split(_ list: String) -> [String] {
        var addresses: [String] = []
        for part in list.split(separator: ",", omittingEmptySubsequences: false) {
            if let last = addresses.last, last.contains("+sentinel://"), !part.contains("://") {
                addresses[addresses.count - 1] = "\(last),\(part)"
            } else {
                addresses.append(String(part))
            }
        }
        return addresses
    }

    /// Where the Redis is, if no Sentinels know better.
    var endpoint: RedisEndpoint {
        switch place {
        case .known(let endpoint): endpoint
        case .sentinels(let sentinels, _): sentinels[0]
        }
    }

    /// Empty if the place is known.
    var sentinels: [RedisEndpoint] { if case .sentinels(let sentinels, _) = place { sentinels } else { [] } }
    var primaryName: String { if case .sentinels(_, let name) = place { name } else { "" } }

    /// The address without user and password.
    public var description: String {
        let scheme = isEncrypted ? "rediss" : "redis"
        let number = database == 0 ? "" : "/\(database)"
        switch place {
        case .known(let endpoint): return "\(scheme)://\(endpoint)\(number)"
        case .sentinels(let sentinels, let name):
            let hosts = sentinels.map(\.description).joined(separator: ",")
            return "\(scheme)+sentinel://\(hosts)/\(ForeignText.line(name))\(number)"
        }
    }

    /// Takes user and password from the beginning of the text.
    private static func signIn(_ rest: inout Substring) throws(CommandLogFault) -> (String?, String?) {
        guard let at = rest.lastIndex(of: "@") else { return (nil, nil) }
        let parts = rest[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let name = decoded(parts[0]), let secret = decoded(parts[1]) else {
            throw fault("the address must have the form redis://user:password@host")
        }
        rest = rest[rest.index(after: at)...]
        return (name.isEmpty ? nil : name, secret)
    }

    private static func endpoint(_ text: Substring, port standard: Int) throws(CommandLogFault) -> RedisEndpoint {
        var host = text
        var port: Substring?
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
        guard let number = port.map({ Int($0) }) ?? standard, (1...65_535).contains(number) else {
            throw fault("the port must be a number from 1 to 65535")
        }
        return RedisEndpoint(host: String(host), port: number)
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
