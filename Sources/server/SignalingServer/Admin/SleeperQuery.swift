import JSONText
import SignalingCore
import SignalingProtocol
import SignalingTokens

/// What a request for sleeping sessions asks for (HIS-3). A value that another thread can use.
///
/// A search reads a bounded number of sessions, so a page may have fewer than asked for, or none, and a `next` all the same.
struct SleeperQuery: Sendable {
    /// The sessions that a search reads for one response: some milliseconds of another thread.
    static let searchedCount = 500

    /// Where to read, the greatest IDs first.
    let ranges: [Range<SessionID>]
    private let project: APIKey?
    private let text: String
    private let limit: Int
    /// From the settings.
    private let labels: [SessionID: SessionLabel]

    /// - Parameters:
    ///   - project: `nil` for the sessions of all projects.
    ///   - before: only sessions with smaller IDs.
    ///   - search: a part of the label, the ID, or the ID of a restricted user. Empty for all sessions.
    init(
        project: APIKey?, before: SessionID?, search: String, limit: Int, labels: [SessionID: SessionLabel]
    ) {
        let all = project.map(SessionIDCodec.ranges) ?? [.all]
        ranges = before.map { before in all.compactMap { $0.below(before) } } ?? all
        self.project = project
        text = search
        self.limit = limit
        self.labels = labels
    }

    /// The most sessions to read for one response.
    var readCount: Int { text.isEmpty ? limit : Self.searchedCount }

    /// The response. Takes time in proportion to what was read.
    ///
    /// - Parameters:
    ///   - read: a part of a range.
    ///   - end: where another range follows; `nil` if none does.
    func page(of read: SleepingSessions, followedBelow end: SessionID?) -> JSONValue {
        var rows = read.decoded(where: isOfProject).compactMap(row)
        var next = read.next ?? end
        if rows.count > limit {
            rows.removeSubrange(limit...)
            next = rows.last?.id
        }
        var page: JSONObject = ["items": .array(rows.map(\.json))]
        if let next { page.append("next", .string(next.rawValue)) }
        return .object(page)
    }

    private func isOfProject(_ session: SessionID) -> Bool {
        project == nil || (try? SessionIDCodec.apiKey(of: session)) == project
    }

    /// - Returns: `nil` for a session that is not searched for.
    private func row(_ session: SleepingSession) -> SessionRow? {
        let row = SessionRow(session, labels: labels)
        guard !text.isEmpty, !session.id.rawValue.contains(text) else { return row }
        let names = [row.label ?? ""] + session.restrictedUsers.map(\.rawValue)
        let lowercased = text.lowercased()
        return names.contains { $0.lowercased().contains(lowercased) } ? row : nil
    }
}
