/// The form in which a client that enters its session gets what follows `connected`.
public struct ClientEntry: Sendable {
    /// Whether the client gets no presence, and the sender with each signal (CON-4, SIG-9).
    public var suppressesPresence: Bool
    /// The other connections, which are not in the ``Welcome`` (CON-11).
    public var others: ConnectionListing
    /// The absences that `connected` names; `nil` for a client that is told of none (PRES-4).
    public var absences: Absences?
    /// Whether the client is told of streams (STR-2).
    public var getsStreams: Bool

    public init(
        suppressesPresence: Bool = false, others: ConnectionListing = .none, absences: Absences? = nil,
        getsStreams: Bool = false
    ) {
        self.suppressesPresence = suppressesPresence
        self.others = others
        self.absences = absences
        self.getsStreams = getsStreams
    }
}
