/// Which presence events the observer of an engine gets with an entry of the log.
enum PresenceReport {
    /// Those that the entry has caused.
    case ofEntry
    /// All that are untold: the node that reported until this entry may have left some out.
    case untold
    /// None: another node reports them.
    case none
}
