import SignalingCore
import SignalingProtocol

/// Finds sessions by their label, a part of their ID, or the data or user of a connection, which mostly has a person's
/// name. Upper and lower case are the same, but for IDs of sessions. Confined to the loop.
struct SessionSearch {
    private let text: String
    private let lowercased: String
    private let hub: ServerHub
    private var rest: ArraySlice<SessionRow>
    /// The members of the first session of the rest that have been read.
    private var offset = 0
    private(set) var found: [SessionRow] = []

    init(_ text: String, in listing: SessionListing, on hub: ServerHub) {
        (self.text, lowercased, self.hub) = (text, text.lowercased(), hub)
        rest = listing.byTraffic[...]
    }

    /// Reads so many members.
    ///
    /// - Returns: whether all sessions have been read.
    mutating func advance(memberCount: Int) -> Bool {
        var allowance = memberCount
        while allowance > 0, let row = rest.first {
            allowance -= 1
            if offset == 0, row.id.rawValue.contains(text) || matches(row.label ?? "") {
                finish(row, isFound: true)
                continue
            }
            var count = 0
            var isFound = false
            if let state = hub.inspectableEngine?.state(of: row.id) {
                for member in state.memberOverviews.dropFirst(offset).prefix(allowance) where !isFound {
                    count += 1
                    isFound = matches(member.connection.data) || matches(member.connection.user?.rawValue ?? "")
                }
            }
            allowance -= count
            if isFound || allowance > 0 { finish(row, isFound: isFound) } else { offset += count }
        }
        return rest.isEmpty
    }

    private mutating func finish(_ row: SessionRow, isFound: Bool) {
        if isFound { found.append(row) }
        rest.removeFirst()
        offset = 0
    }

    private func matches(_ content: String) -> Bool { content.lowercased().contains(lowercased) }
}
