import SignalingProtocol

/// The types of the signals that a session's history keeps (HIS-1).
public enum KeptTypes: Hashable, Sendable {
    /// Every broadcast, those without a type included.
    case all
    /// Sorted, each once. A signal without a type has none of them.
    case only([String])

    public func contains(_ type: String?) -> Bool {
        switch self {
        case .all: true
        case .only(let types): type.map { types.contains($0) } ?? false
        }
    }
}

/// Which sessions keep a history, of what, and what of it may change.
public struct HistoryPolicy: Hashable, Sendable {
    /// For projects that say nothing else; `nil` keeps nothing.
    public var standard: KeptTypes?
    /// For these projects; `nil` as a value keeps nothing.
    public var projects: [APIKey: KeptTypes?]
    /// What authors may do with their messages, where projects say nothing else (CHG-4).
    public var changes: Set<ChangeKind>
    public var projectChanges: [APIKey: Set<ChangeKind>]
    /// What becomes of read markers, where projects say nothing else (READ-4).
    public var readMarkers = ReadMarkers.off
    public var projectReadMarkers: [APIKey: ReadMarkers] = [:]
    /// Whether there is a feed, where projects say nothing else (FEED-1).
    public var feed = false
    public var projectFeeds: [APIKey: Bool] = [:]
    /// How long a message may be unread for a user who is not connected until the feed says so (FEED-6).
    public var unreadDelay = Duration.seconds(30)

    public init(
        standard: KeptTypes? = nil, projects: [APIKey: KeptTypes?] = [:], changes: Set<ChangeKind> = [],
        projectChanges: [APIKey: Set<ChangeKind>] = [:]
    ) {
        self.standard = standard
        self.projects = projects
        self.changes = changes
        self.projectChanges = projectChanges
    }

    /// No session keeps anything.
    public static let none = HistoryPolicy()

    public var keepsNothing: Bool { standard == nil && projects.values.allSatisfy { $0 == nil } }

    public func types(of project: APIKey?) -> KeptTypes? {
        guard let project, let own = projects[project] else { return standard }
        return own
    }

    public func changes(of project: APIKey?) -> Set<ChangeKind> {
        project.flatMap { projectChanges[$0] } ?? changes
    }

    public func hasFeed(_ project: APIKey?) -> Bool { project.flatMap { projectFeeds[$0] } ?? feed }

    public func readMarkers(of project: APIKey?) -> ReadMarkers {
        project.flatMap { projectReadMarkers[$0] } ?? readMarkers
    }
}
