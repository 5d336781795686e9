import SignalingProtocol

/// How far the users of a session have read (READ-2).
struct SessionMarkers: Hashable, Sendable {
    /// Beyond it the user who has read least is forgotten.
    static let limit = 1_000

    private var seqs: [UserID: Seq] = [:]

    var count: Int { seqs.count }

    subscript(user: UserID) -> Seq? { seqs[user] }

    /// - Returns: whether the user has read on. A marker never falls.
    mutating func raise(_ marker: ReadMarker) -> Bool {
        if let known = seqs[marker.user], known >= marker.through { return false }
        seqs[marker.user] = marker.through
        guard seqs.count > Self.limit, let last = ordered.last else { return true }
        seqs[last.user] = nil
        return last.user != marker.user
    }

    mutating func remove(_ user: UserID) { seqs[user] = nil }

    /// The greatest first.
    var ordered: [ReadMarker] {
        seqs.map { ReadMarker($0, through: $1) }
            .sorted { ($1.through, $0.user) < ($0.through, $1.user) }
    }
}

/// The markers that clients have set on this node, and that wait for the log (READ-2). They are in no snapshot.
struct WaitingMarkers: Sendable {
    static let wait = Duration.seconds(1)

    private var seqs: [UserID: Seq] = [:]
    /// When they belong into the log; `nil` without any.
    private(set) var dueAt: MonotonicInstant?

    mutating func note(_ marker: ReadMarker, _ now: MonotonicInstant) {
        seqs[marker.user] = max(seqs[marker.user] ?? .zero, marker.through)
        dueAt = dueAt ?? now.advanced(by: Self.wait)
    }

    mutating func take() -> [ReadMarker] {
        defer { self = WaitingMarkers() }
        return seqs.map { ReadMarker($0, through: $1) }.sorted { $0.user < $1.user }
    }
}

extension SessionMarkers: ByteCodable {
    func write(to writer: inout ByteWriter) { writer.write(values: ordered.sorted { $0.user < $1.user }) }

    init(from reader: inout ByteReader) throws(CodingFault) {
        for marker: ReadMarker in try reader.values(ofAtLeast: 2) {
            guard seqs.updateValue(marker.through, forKey: marker.user) == nil else { throw .malformed }
        }
        guard seqs.count <= Self.limit else { throw .malformed }
    }
}

extension ReadMarker: ByteCodable {
    func write(to writer: inout ByteWriter) {
        writer.write(user)
        writer.write(through)
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        self.init(try reader.value(), through: try reader.value())
    }
}

extension ReadMarkers: NumberedCase {
    var number: UInt8 {
        switch self {
        case .off: 0
        case .own: 1
        case .shared: 2
        }
    }
}
