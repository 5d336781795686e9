import SignalingProtocol

extension SessionCommand: ByteCodable {
    /// The kind of a command, which is its first byte.
    private enum Kind: UInt8 {
        case join = 1
        case leave = 2
        case detach = 3
        case heard = 4
        case signal = 5
        case forceDisconnect = 6
        case refreshToken = 7
        case erase = 8
        case moderate = 9
        case restrictions = 10
        case streams = 11
        case change = 12
        case react = 13
        case reactors = 14
        case read = 15
    }

    func write(to writer: inout ByteWriter) {
        switch self {
        case .join(let request):
            writer.write(byte: Kind.join.rawValue)
            writer.write(request)
        case .leave(let binding, let reason):
            writer.write(byte: Kind.leave.rawValue)
            writer.write(binding)
            writer.write(reason)
        case .detach(let binding):
            writer.write(byte: Kind.detach.rawValue)
            writer.write(binding)
        case .heard(let binding):
            writer.write(byte: Kind.heard.rawValue)
            writer.write(binding)
        case .signal(let sender, let request):
            writer.write(byte: Kind.signal.rawValue)
            writer.write(sender)
            writer.write(request)
        case .forceDisconnect(let sender, let target):
            writer.write(byte: Kind.forceDisconnect.rawValue)
            writer.write(sender)
            writer.write(target)
        case .change(let sender, let request):
            writer.write(byte: Kind.change.rawValue)
            writer.write(sender)
            writer.write(request)
        case .react(let sender, let request):
            writer.write(byte: Kind.react.rawValue)
            writer.write(sender)
            writer.write(request.ref)
            writer.write(values: request.keys.map(ExactText.init))
        case .reactors(let binding, let request):
            writer.write(byte: Kind.reactors.rawValue)
            writer.write(binding)
            writer.write(request.ref)
            writer.write(request.key.map(ExactText.init))
        case .read(let binding, let seq):
            writer.write(byte: Kind.read.rawValue)
            writer.write(binding)
            writer.write(seq)
        case .erase(let sender, let erasure):
            writer.write(byte: Kind.erase.rawValue)
            writer.write(sender)
            writer.write(erasure)
        case .moderate(let sender, let request, let time):
            writer.write(byte: Kind.moderate.rawValue)
            writer.write(sender)
            writer.write(request)
            writer.write(time.date)
            if writer.rules >= .newerTokens { writer.write(time.moment) }
        case .restrictions(let binding):
            writer.write(byte: Kind.restrictions.rawValue)
            writer.write(binding)
        case .streams(let sender, let streams):
            writer.write(byte: Kind.streams.rawValue)
            writer.write(sender)
            writer.write(values: streams)
        case .refreshToken(let binding, let claims):
            writer.write(byte: Kind.refreshToken.rawValue)
            writer.write(binding)
            writer.write(claims)
        }
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        guard let kind = Kind(rawValue: try reader.byte()) else { throw .malformed }
        switch kind {
        case .join: self = .join(try reader.value())
        case .leave: self = .leave(try reader.value(), try reader.value())
        case .detach: self = .detach(try reader.value())
        case .heard: self = .heard(try reader.value())
        case .signal: self = .signal(try reader.value(), try reader.value())
        case .forceDisconnect: self = .forceDisconnect(try reader.value(), try reader.value())
        case .refreshToken: self = .refreshToken(try reader.value(), try reader.value())
        case .change:
            guard reader.rules >= .changes else { throw .malformed }
            self = .change(try reader.value(), try reader.value())
        case .react:
            guard reader.rules >= .changes else { throw .malformed }
            let (sender, ref): (CommandSender, Seq) = (try reader.value(), try reader.value())
            let keys: [ExactText] = try reader.values(ofAtLeast: 1)
            self = .react(sender, ReactRequest(ref, keys: keys.map(\.text)))
        case .reactors:
            let (binding, ref): (SocketBinding, Seq) = (try reader.value(), try reader.value())
            self = .reactors(binding, ReactorsRequest(ref, key: (try reader.optional() as ExactText?)?.text))
        case .read: self = .read(try reader.value(), through: try reader.value())
        case .erase: self = .erase(try reader.value(), try reader.value())
        case .moderate:
            self = .moderate(
                try reader.value(), try reader.value(),
                Acceptance(
                    date: try reader.value(), moment: reader.rules >= .newerTokens ? try reader.optional() : nil))
        case .restrictions: self = .restrictions(try reader.value())
        case .streams:
            guard reader.rules >= .streams else { throw .malformed }
            self = .streams(try reader.value(), try reader.values(ofAtLeast: 4))
        }
    }

    /// Enough for the encoded command without a second allocation, if its names have the usual lengths.
    var expectedByteCount: Int {
        switch self {
        case .join(let request): 256 + request.data.utf8.count + (request.user?.rawValue.utf8.count ?? 0)
        case .signal(_, let request): 128 + (request.type?.utf8.count ?? 0) + (request.data?.utf8.count ?? 0)
        case .change(_, let request): 128 + request.expectedByteCount
        case .refreshToken(_, let claims): 128 + claims.data.utf8.count
        case .moderate: 512
        case .streams(_, let streams): 128 + streams.count * 128
        case .react(_, let request): 128 + request.keys.count * 12
        case .leave, .detach, .heard, .forceDisconnect, .erase, .restrictions, .reactors, .read: 128
        }
    }
}

extension ChangeRequest: ByteCodable {
    func write(to writer: inout ByteWriter) {
        writer.write(ref)
        switch change {
        case .edit(let data, let isJSON):
            writer.write(byte: isJSON ? 1 : 0)
            writer.write(data.map(ExactText.init))
        }
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        let ref: Seq = try reader.value()
        let kind = try reader.byte()
        guard kind <= 1 else { throw .malformed }
        self.init(ref, .edit(data: (try reader.optional() as ExactText?)?.text, isJSON: kind == 1))
    }

    fileprivate var expectedByteCount: Int {
        switch change {
        case .edit(let data, _): data?.utf8.count ?? 0
        }
    }
}

extension CommandSender: ByteCodable {
    private enum Kind: UInt8 {
        case server = 0
        case connection = 1
    }

    func write(to writer: inout ByteWriter) {
        switch self {
        case .server: writer.write(byte: Kind.server.rawValue)
        case .connection(let binding, let request):
            writer.write(byte: Kind.connection.rawValue)
            writer.write(binding)
            writer.write(request)
        }
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        guard let kind = Kind(rawValue: try reader.byte()) else { throw .malformed }
        switch kind {
        case .server: self = .server
        case .connection: self = .connection(try reader.value(), try reader.optional())
        }
    }
}

extension JoinRequest: ByteCodable {
    private struct Flags: OptionSet {
        let rawValue: UInt8
        static let suppressesPresence = Flags(rawValue: 1 << 0)
        static let getsPages = Flags(rawValue: 1 << 1)
        static let getsAbsences = Flags(rawValue: 1 << 2)
        static let isUntimely = Flags(rawValue: 1 << 3)
        static let resumption = Flags(rawValue: 1 << 4)
        static let token = Flags(rawValue: 1 << 5)
        static let user = Flags(rawValue: 1 << 6)

        static func all(of rules: RulesVersion) -> Flags {
            let first: Flags = [.suppressesPresence, .getsPages, .getsAbsences, .isUntimely, .resumption, .token]
            return rules >= .moderation ? first.union(.user) : first
        }
    }

    func write(to writer: inout ByteWriter) {
        var flags: Flags = []
        if suppressesPresence { flags.insert(.suppressesPresence) }
        if getsPages { flags.insert(.getsPages) }
        if getsAbsences { flags.insert(.getsAbsences) }
        if isUntimely { flags.insert(.isUntimely) }
        if resumption != nil { flags.insert(.resumption) }
        if token != nil { flags.insert(.token) }
        if user != nil, writer.rules >= .moderation { flags.insert(.user) }
        writer.write(byte: flags.rawValue)
        writer.write(connectionId)
        writer.write(socket)
        writer.write(role)
        writer.write(text: data)
        writer.write(wallTime)
        writer.write(secretHash)
        if let resumption { writer.write(resumption) }
        if let token { writer.write(token) }
        if flags.contains(.user), let user { writer.write(user) }
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        let flags = try reader.flags(among: Flags.all(of: reader.rules))
        self.init(
            connectionId: try reader.value(), socket: try reader.value(), role: try reader.value(),
            data: try reader.text(), suppressesPresence: flags.contains(.suppressesPresence),
            getsPages: flags.contains(.getsPages), getsAbsences: flags.contains(.getsAbsences),
            wallTime: try reader.value(), secretHash: try reader.value(),
            resumption: flags.contains(.resumption) ? try reader.value() : nil,
            isUntimely: flags.contains(.isUntimely), token: flags.contains(.token) ? try reader.value() : nil)
        if flags.contains(.user) { user = try reader.value() }
    }
}

extension Resumption: ByteCodable {
    func write(to writer: inout ByteWriter) {
        writer.write(connectionId)
        writer.write(secretHash)
        writer.write(epoch)
        // The client's own number: any integer.
        writer.write(signed: after.rawValue)
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        self.init(
            connectionId: try reader.value(), secretHash: try reader.value(), epoch: try reader.value(),
            after: Seq(try reader.signed()))
    }
}

extension SignalRequest: ByteCodable {
    private struct Flags: OptionSet {
        let rawValue: UInt8
        static let type = Flags(rawValue: 1 << 0)
        static let data = Flags(rawValue: 1 << 1)
        static let to = Flags(rawValue: 1 << 2)
        static let isOnlineOnly = Flags(rawValue: 1 << 3)
        static let isJSON = Flags(rawValue: 1 << 4)
        static let all: Flags = [.type, .data, .to, .isOnlineOnly, .isJSON]
    }

    func write(to writer: inout ByteWriter) {
        var flags: Flags = []
        if type != nil { flags.insert(.type) }
        if data != nil { flags.insert(.data) }
        if to != nil { flags.insert(.to) }
        if isOnlineOnly { flags.insert(.isOnlineOnly) }
        if isJSON { flags.insert(.isJSON) }
        writer.write(byte: flags.rawValue)
        if let type { writer.write(text: type) }
        if let data { writer.write(text: data) }
        if let to { writer.write(to) }
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        let flags = try reader.flags(among: Flags.all)
        let type = flags.contains(.type) ? try reader.text() : nil
        // The request would drop it (SIG-2).
        if type?.isEmpty == true { throw .malformed }
        self.init(
            type: type,
            data: flags.contains(.data) ? try reader.text() : nil,
            to: flags.contains(.to) ? try reader.value() : nil,
            isOnlineOnly: flags.contains(.isOnlineOnly), isJSON: flags.contains(.isJSON))
    }
}

extension TokenClaims: ByteCodable {
    func write(to writer: inout ByteWriter) {
        writer.write(role)
        writer.write(text: data)
        if writer.rules >= .moderation { writer.write(user) }
        writer.write(expiry.deadline)
        if writer.rules >= .newerTokens { writer.write(token) }
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        self.init(
            role: try reader.value(), data: try reader.text(),
            user: reader.rules >= .moderation ? try reader.optional() : nil,
            expiry: TokenExpiry(deadline: try reader.optional()),
            token: reader.rules >= .newerTokens ? try reader.optional() : nil)
    }
}
