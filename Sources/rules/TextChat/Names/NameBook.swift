import SignalingProtocol

/// The name over a message, as ``NameBook`` finds it.
public enum SenderName: Hashable, Sendable {
    case name(String)
    /// An author without a name. The number is the same for everybody; nil: there is no ID to make it of.
    case guest(Int?)
    /// A message by REST without a name: the project's backend has sent it.
    case server

    /// In English, or with your own words.
    public func text(guest: String = "Guest", server: String = "Server") -> String {
        switch self {
        case .name(let name): name
        case .guest(let number): number.map { "\(guest) \($0)" } ?? guest
        case .server: server
        }
    }
}

/// The names of senders (CHAT-4). The server vouches for the connection that it stamps on a message, so the name in the
/// connection's data has precedence, and then the user of the token, unless the ID is a code. The name in a message, its
/// alias, counts only for a sender without both, and only if it is no other's name, so that no sender can use another's.
///
/// A name that the server vouches for comes from the message alone: it is the same for everybody, at any time. An alias
/// may turn out to be another's, so names that are shown can change: ``revision`` tells. Of several guests with the same
/// alias it is the name of the one that has used it first in the session's order, whatever is read first.
///
/// Two persons may have the same name all the same. ``number(of:)`` tells them apart.
public struct NameBook: Sendable {
    /// Increases when a name that was given may be another one now.
    public private(set) var revision = 0

    /// Some sender has had a user.
    private var hasUsers = false
    private var here: [ConnectionID: Entry] = [:]
    private var past: [ConnectionID: Entry] = [:]
    /// The order in which those of the past were noted, the oldest first. An entry that was noted again is there twice.
    private var noted: [(id: ConnectionID, at: Int)] = []
    /// The index in `noted` before which nobody is left.
    private var oldest = 0
    private var owners: [NameLook: Set<ConnectionID>] = [:]
    /// Counts the notes. A message without a seq is behind all others, in the order of arrival.
    private var clock = 0

    /// How many senders are remembered that are not here; the least recently noted are dropped.
    private static let pastCount = 4096

    private struct Entry {
        let id: ConnectionID
        var user: UserID?
        var name: String?
        var look: NameLook?
        /// The name is in the data, or is the user. Otherwise it is the newest alias.
        var isVouched = false
        /// The places of the first and the last message with the alias.
        var first = Int64.max
        var last = Int64.min
        /// When it was noted in the past.
        var at = 0
    }

    public init() {}

    // MARK: Notes

    /// Notes a connection that is here, as the server describes it. Its name is kept until it has left.
    public mutating func note(_ connection: Connection) {
        let entry = self.entry(of: connection.connectionId, data: connection.data, user: connection.user)
        past[connection.connectionId] = nil
        here[connection.connectionId] = entry
    }

    /// The connection is not here any more.
    public mutating func noteDeparture(_ connection: ConnectionID) {
        if let entry = here.removeValue(forKey: connection) { remember(entry) }
    }

    /// One's own connection has begun: these connections are here, and no others. Those that were here before keep what is
    /// known of them, however many they are.
    public mutating func enter(_ connections: some Sequence<Connection>) {
        var left = Set(here.keys)
        for connection in connections {
            note(connection)
            left.remove(connection.connectionId)
        }
        for id in left.sorted(by: { $0.rawValue < $1.rawValue }) { noteDeparture(id) }
    }

    /// Notes the sender of a message, of now or of the history, and the name in the message.
    public mutating func note(_ message: ChatMessage) {
        guard let sender = message.senderID.map({ ConnectionID($0) }), !message.isFromServer else { return }
        let known = here[sender] ?? past[sender]
        // A message that a program has made has no stamp, and says nothing of a connection that is known.
        var entry =
            if message.senderData == nil, let known {
                known
            } else {
                self.entry(of: sender, data: message.senderData ?? "", user: message.senderUser)
            }
        if !entry.isVouched, let alias = Self.claim(message.senderAlias) { claim(&entry, alias, message.seq) }
        keep(entry)
    }

    /// Notes the sender of any other signal.
    mutating func note(sender: Connection) {
        keep(entry(of: sender.connectionId, data: sender.data, user: sender.user))
    }

    private mutating func keep(_ entry: Entry) {
        if here[entry.id] != nil { here[entry.id] = entry } else { remember(entry) }
    }

    // MARK: Names

    /// The name over a message that was noted.
    public func name(of message: ChatMessage) -> SenderName {
        let sender = message.senderID.map { ConnectionID($0) }
        guard let sender, !message.isFromServer else {
            return message.senderAlias.flatMap(DisplayName.read).map { .name($0) } ?? .server
        }
        let entry = here[sender] ?? past[sender]
        let vouched =
            message.senderData == nil && entry != nil
            ? entry.flatMap { $0.isVouched ? $0.name : nil }
            : DisplayName.vouched(data: message.senderData ?? "", user: message.senderUser)
        if let vouched { return .name(vouched) }
        let user = message.senderUser ?? entry?.user
        if let alias = Self.claim(message.senderAlias),
            !isTaken(NameLook(alias), by: sender, user: user, at: message.seq?.rawValue ?? .max)
        {
            return .name(alias)
        }
        return .guest(DisplayName.number(of: user?.rawValue ?? sender.rawValue))
    }

    /// The number of the sender, to show beside the name, if another person has the same name; else nil. It is made of the
    /// user ID, or of the connection ID of a guest.
    public func number(of message: ChatMessage) -> Int? {
        guard let id = message.senderID.map({ ConnectionID($0) }), !message.isFromServer,
            let own = here[id] ?? past[id], own.isVouched, let look = own.look
        else { return nil }
        let others = (owners[look] ?? []).lazy.compactMap { here[$0] ?? past[$0] }.filter {
            $0.isVouched && $0.id != id
        }
        let isShared = others.contains { other in
            // A guest has another mark than a user.
            own.user.map { other.user != nil && other.user != $0 } ?? (other.user == nil)
        }
        return isShared ? DisplayName.number(of: own.user?.rawValue ?? id.rawValue) : nil
    }

    /// Whether the sender is a guest among users, who may have chosen the name of any of them. A message by REST is not of
    /// a guest, and where nobody has a user nobody has a mark.
    public func isGuest(_ message: ChatMessage) -> Bool {
        guard let id = message.senderID, !message.isFromServer, message.senderUser == nil else { return false }
        return isGuest(ConnectionID(id))
    }

    /// Whether the sender of a signal that carries no name is a guest among users.
    public func isGuest(_ connection: ConnectionID) -> Bool {
        hasUsers && (here[connection] ?? past[connection])?.user == nil
    }

    /// The name of a sender who is or was here, as for a signal that carries no name.
    public func name(of connection: ConnectionID) -> SenderName {
        let entry = here[connection] ?? past[connection]
        if let entry, let name = entry.name, let look = entry.look,
            entry.isVouched || !isTaken(look, by: connection, user: entry.user, at: entry.first)
        {
            return .name(name)
        }
        return .guest(DisplayName.number(of: entry?.user?.rawValue ?? connection.rawValue))
    }

    /// Users with the names that the server vouches for: of connections that are here, or else of those that were.
    func named(_ users: [UserID]) -> [ChatUser] {
        let wanted = Set(users)
        let (now, before) = (Self.names(of: wanted, in: here), Self.names(of: wanted, in: past))
        return users.map { ChatUser(user: $0, name: now[$0] ?? before[$0]) }
    }

    private static func names(of users: Set<UserID>, in entries: [ConnectionID: Entry]) -> [UserID: String] {
        var names: [UserID: String] = [:]
        for entry in entries.values where entry.isVouched {
            guard let user = entry.user, users.contains(user), let name = entry.name else { continue }
            // Of several names of a user the same one is shown each time.
            names[user] = min(names[user] ?? name, name)
        }
        return names
    }

    /// Whether the name is another's: the server vouches for it, or another guest has used it first.
    private func isTaken(_ look: NameLook, by own: ConnectionID, user: UserID?, at place: Int64) -> Bool {
        var since = place
        var others = Int64.max
        for id in owners[look] ?? [] {
            guard let owner = here[id] ?? past[id] else { continue }
            if id == own || (user != nil && owner.user == user) {
                since = min(since, owner.isVouched ? .min : owner.first)
            } else {
                others = min(others, owner.isVouched ? .min : owner.first)
            }
        }
        return others < since
    }

    // MARK: Entries

    /// The name in a message, if a guest can have it.
    private static func claim(_ alias: String?) -> String? {
        alias.flatMap(DisplayName.read).flatMap { NameLook.isReserved($0) ? nil : $0 }
    }

    /// The entry of this connection, with the name that the server vouches for now.
    private mutating func entry(of id: ConnectionID, data: String, user: UserID?) -> Entry {
        var entry = here[id] ?? past[id] ?? Entry(id: id)
        entry.user = user
        if user != nil, !hasUsers {
            hasUsers = true
            // Guests have a mark from now on.
            revision += 1
        }
        let vouched = DisplayName.vouched(data: data, user: user)
        if vouched != (entry.isVouched ? entry.name : nil) {
            entry.isVouched = vouched != nil
            rename(&entry, vouched)
        }
        return entry
    }

    /// The guest has used this name in a message. Its newest alias is its own, from the first message with it on.
    private mutating func claim(_ entry: inout Entry, _ name: String, _ seq: Seq?) {
        let isSame = entry.look == NameLook(name)
        if isSame, seq == nil { return }
        clock += 1
        let place = seq?.rawValue ?? Int64(1) << 60 + Int64(clock)
        if entry.look != nil, !isSame, place < entry.last { return }
        let first = isSame ? min(entry.first, place) : place
        let isChanged = !isSame || first != entry.first
        entry.first = first
        entry.last = isSame ? max(entry.last, place) : place
        if isChanged { rename(&entry, name) }
    }

    private mutating func rename(_ entry: inout Entry, _ name: String?) {
        if let look = entry.look {
            owners[look]?.remove(entry.id)
            if owners[look]?.isEmpty == true { owners[look] = nil } else { revision += 1 }
        }
        entry.name = name
        entry.look = name.map(NameLook.init)
        guard let look = entry.look else { return }
        if owners[look] != nil { revision += 1 }
        owners[look, default: []].insert(entry.id)
    }

    private mutating func remember(_ entry: Entry) {
        var entry = entry
        clock += 1
        entry.at = clock
        past[entry.id] = entry
        noted.append((entry.id, clock))
        while past.count > Self.pastCount, oldest < noted.count {
            let (id, at) = noted[oldest]
            oldest += 1
            if past[id]?.at == at, var dropped = past.removeValue(forKey: id) { rename(&dropped, nil) }
        }
        // Once in a while, so that a note costs the same however many there were.
        guard noted.count > 4 * Self.pastCount else { return }
        noted = noted[oldest...].filter { past[$0.id]?.at == $0.at }
        oldest = 0
    }
}
