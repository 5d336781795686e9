import SignalingProtocol

/// Reads the project of a session from its ID; `nil` for an ID of no project.
public typealias ProjectOfSession = (SessionID) -> APIKey?

/// The sessions that an engine hosts, each in a box: a command finds it once, and never copies its state.
///
/// The table also notes when something is due in each, which of them may be over, and which project they belong to.
struct SessionTable<Hosted: HostedSession> {
    private var sessions: [SessionID: Hosted] = [:]
    /// The sessions of each project, so that an answer about one project costs nothing for the sessions of others.
    private var byProject: [APIKey: Set<SessionID>] = [:]
    private let projectOf: ProjectOfSession
    private var deadlines = SessionDeadlines()
    /// Sessions that were not needed after their last command.
    private var unneeded: Set<SessionID> = []

    #if DEBUG
        /// Sessions that have changed since the last check of their invariants.
        private var touched: [Hosted] = []
    #endif

    init(projectOf: @escaping ProjectOfSession) { self.projectOf = projectOf }

    /// To read it from the ID takes longer than to find the session.
    func project(of session: SessionID) -> APIKey? { sessions[session].map(\.project) ?? projectOf(session) }

    var count: Int { sessions.count }
    /// In no order.
    var all: some Sequence<Hosted> { sessions.values }
    /// In the same order in every process, so that a test can repeat a run.
    var ordered: [(id: SessionID, hosted: Hosted)] {
        sessions.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 }
    }

    subscript(session: SessionID) -> Hosted? { sessions[session] }

    /// In no order.
    ///
    /// - Parameter project: `nil` for all sessions.
    func ids(of project: APIKey?) -> [SessionID] {
        guard let project else { return Array(sessions.keys) }
        return Array(byProject[project] ?? [])
    }

    mutating func add(_ hosted: Hosted, as session: SessionID) {
        hosted.project = projectOf(session)
        sessions.updateValue(hosted, forKey: session)?.isHosted = false
        if let project = hosted.project { byProject[project, default: []].insert(session) }
    }

    mutating func remove(_ session: SessionID) {
        guard let hosted = sessions.removeValue(forKey: session) else { return }
        hosted.isHosted = false
        if let project = hosted.project {
            byProject[project]?.remove(session)
            if byProject[project]?.isEmpty == true { byProject[project] = nil }
        }
        deadlines.remove(session)
        unneeded.remove(session)
    }

    mutating func removeAll() {
        for hosted in sessions.values { hosted.isHosted = false }
        self = SessionTable(projectOf: projectOf)
    }

    /// The earliest deadline, or an earlier moment at which nothing is due; `nil` when nothing is scheduled.
    var nextDeadline: MonotonicInstant? { deadlines.next }

    /// Notes when something is due in a session. Does nothing if an earlier deadline is noted: it is checked then.
    mutating func schedule(_ session: SessionID, at deadline: MonotonicInstant?) {
        deadlines.schedule(session, at: deadline)
    }

    /// Removes and returns a session from those in which something is due; `nil` when none is left.
    mutating func popDue(by now: MonotonicInstant) -> SessionID? { deadlines.popDue(by: now) }

    /// Notes that a session may be over.
    mutating func noteUnneeded(_ session: SessionID) { unneeded.insert(session) }

    /// When something is due in a session; `nil` if nothing is scheduled.
    func scheduledTime(of session: SessionID) -> MonotonicInstant? { deadlines.moment(of: session) }

    /// Notes that a session changes: its invariants are checked at the end of the turn.
    mutating func noteTouched(_ hosted: Hosted) {
        #if DEBUG
            if hosted.isTouched { return }
            hosted.isTouched = true
            touched.append(hosted)
        #endif
    }

    #if DEBUG
        /// The sessions that have changed since the last call.
        mutating func takeTouched() -> [Hosted] {
            for hosted in touched { hosted.isTouched = false }
            defer { touched.removeAll(keepingCapacity: true) }
            return touched
        }
    #endif

    /// The sessions that were not needed since the last call.
    mutating func takeUnneeded() -> Set<SessionID> {
        defer { unneeded.removeAll(keepingCapacity: true) }
        return unneeded
    }
}
