/// The form in which a client that enters its session gets what follows `connected`.
public struct ClientEntry: Sendable {
    /// Whether the client gets no presence, and the sender with each signal (CON-4, SIG-9).
    public var suppressesPresence: Bool
    /// The list of connections that follows `connected` (CON-11).
    public var pages: ConnectionPages
    /// The absences that `connected` names; `nil` for a client that is told of none (PRES-4).
    public var absences: Absences?

    public init(
        suppressesPresence: Bool = false, pages: ConnectionPages = ConnectionPages(), absences: Absences? = nil
    ) {
        self.suppressesPresence = suppressesPresence
        self.pages = pages
        self.absences = absences
    }
}
