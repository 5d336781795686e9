import SignalingProtocol

extension LoggedCommand {
    /// The first byte is the version of the rules that the submitter knows. A change of the format of commands needs a
    /// new version, too.
    private static func version(_ byte: UInt8) throws(CodingFault) -> RulesVersion {
        guard let rules = RulesVersion(rawValue: byte) else { throw .version(byte) }
        return rules
    }

    /// The rules of a command that was decoded from these bytes, or encoded by this program.
    static func rules(of bytes: [UInt8]) -> RulesVersion {
        bytes.first.flatMap { RulesVersion(rawValue: $0) } ?? .current
    }

    /// The kind of an entry, which is its second byte.
    private enum Kind: UInt8 {
        case begin = 1
        case session = 2
        case advance = 3
        case changeLimits = 4
        case nodeLost = 5
        case told = 6
        case end = 7
        case archived = 8
        case marked = 9
    }

    /// The bytes of the command for the log. The same command has the same bytes in every process.
    public func encoded() -> [UInt8] { encoded(by: .current) }

    /// The bytes that a program with these rules writes.
    func encoded(by rules: RulesVersion) -> [UInt8] {
        var writer = ByteWriter(capacity: expectedByteCount)
        writer.rules = rules
        writer.write(byte: rules.rawValue)
        switch self {
        case .begin(let epoch, let bounds, let seq):
            writer.write(byte: Kind.begin.rawValue)
            writer.write(epoch)
            writer.write(bounds)
            if rules >= .history { writer.write(seq) }
        case .session(let command):
            writer.write(byte: Kind.session.rawValue)
            writer.write(command)
        case .advance: writer.write(byte: Kind.advance.rawValue)
        case .changeLimits(let bounds):
            writer.write(byte: Kind.changeLimits.rawValue)
            writer.write(bounds)
        case .nodeLost(let run, let moment):
            writer.write(byte: Kind.nodeLost.rawValue)
            writer.write(run)
            writer.write(moment)
        case .told(let number):
            writer.write(byte: Kind.told.rawValue)
            writer.write(unsigned: number)
        case .archived(let seq):
            writer.write(byte: Kind.archived.rawValue)
            writer.write(seq)
        case .marked(let markers):
            writer.write(byte: Kind.marked.rawValue)
            writer.write(values: markers)
        case .end: writer.write(byte: Kind.end.rawValue)
        }
        return writer.bytes
    }

    /// Reads the bytes of ``encoded()``.
    ///
    /// - Throws: ``CodingFault`` for any other bytes.
    public init(decoding bytes: [UInt8]) throws(CodingFault) {
        var reader = ByteReader(bytes)
        reader.rules = try Self.version(try reader.byte())
        guard let kind = Kind(rawValue: try reader.byte()) else { throw .malformed }
        switch kind {
        case .begin:
            self = .begin(
                try reader.value(), try reader.value(), after: reader.rules >= .history ? try reader.value() : .zero)
        case .session: self = .session(try reader.value())
        case .advance: self = .advance
        case .changeLimits: self = .changeLimits(try reader.value())
        case .nodeLost: self = .nodeLost(try reader.optional(), at: try reader.value())
        case .told: self = .told(through: try reader.unsigned())
        case .archived: self = .archived(through: try reader.value())
        case .marked:
            guard reader.rules >= .changes else { throw .malformed }
            self = .marked(try reader.values(ofAtLeast: 2))
        case .end: self = .end
        }
        try reader.end()
    }

    private var expectedByteCount: Int {
        switch self {
        case .session(let command): 2 + command.expectedByteCount
        case .begin, .changeLimits: 192
        case .marked(let markers): 8 + markers.count * 24
        case .advance, .nodeLost, .told, .archived, .end: 20
        }
    }
}
