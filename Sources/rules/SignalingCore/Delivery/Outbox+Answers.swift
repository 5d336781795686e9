import SignalingProtocol

extension Outbox {
    /// The outbox of a client that enters its session: `connected` comes before everything that the client missed
    /// (RES-4).
    public init(_ welcome: Welcome, answering request: RequestID, _ entry: ClientEntry) {
        let recoversThrough = welcome.outcome == .resumed ? nil : welcome.replayThrough
        self.init(
            owner: welcome.connection.connectionId, user: welcome.connection.user, role: welcome.role,
            suppressesPresence: entry.suppressesPresence, cursor: welcome.seq,
            recoversThrough: recoversThrough ?? .zero,
            getsStreams: entry.getsStreams)
        // The absences are those after every event of the replay.
        enter(
            with: EncodedWelcome(welcome, answering: request), entry.others,
            entry.absences.map { ToldAbsences($0, through: max(welcome.seq, welcome.replayThrough ?? .zero)) })
    }

    /// Adds a message for this connection alone, to be sent after every event that is now in the log.
    ///
    /// An acknowledgement counts its signal as waiting, too: the signal is sent before it, and this connection has
    /// caused it.
    ///
    /// - Parameters:
    ///   - lastSeq: the end of the log.
    ///   - session: whose log it is.
    public mutating func append(_ message: ServerMessage, after lastSeq: Seq, in session: HostedSession) {
        let signalByteCount = if case .ack(_, let seq?) = message { session.byteCount(of: seq) } else { 0 }
        append(EncodedLine(message), after: lastSeq, signalByteCount: signalByteCount)
    }

    /// Whether the log no longer has the next event for this connection (G4).
    public func isOverrun(by log: borrowing SessionLog) -> Bool { cursor < log.reachesBackTo }

    /// Whether the connection has not been sent the newest event, or the newest absences.
    public func isBehind(_ log: borrowing SessionLog) -> Bool {
        cursor < log.lastSeq || absences.map { $0.version != log.absences.version } ?? false
    }
}
