import JSONText
import SignalingProtocol
import SignalingTokens
import Testing

@testable import SignalingCore
@testable import SignalingServer

@Suite("The list of sleeping sessions")
struct SleeperQueryTests {
    private let keys = ["100", "1001"]
    private static let settingsLabel = SessionLabel("From the settings")

    /// Three sessions of each project, the newest first. The first of each has a label and a muted user.
    private func sleepers() throws -> SleepingSessions {
        var random = SystemRandomNumberGenerator()
        var ids: [SessionID] = []
        for key in keys {
            let project = try #require(Project(apiKey: APIKey(key), secret: "s"))
            for number in 0..<3 as Range<Int64> {
                ids.append(
                    SessionIDCodec.make(
                        for: project, now: WallTime(milliseconds: 1_700_000_000_000 + number),
                        label: number == 0 ? SessionLabel("Support \(key)") : nil, using: &random))
            }
        }
        var read = SleepingSessions(atMost: 100)
        for id in ids.sorted(by: >) {
            var state = SessionState(id: id, epoch: Epoch("e"), after: Seq(7))
            if SessionIDCodec.label(of: id) != nil {
                var effects: [SessionEffect] = []
                let mute = ModerationRequest.mute(.user(UserID("Mallory \(id.rawValue.count)")), .init())
                _ = state.handle(
                    .moderate(.server, mute, Acceptance(date: WallTime(milliseconds: 1))),
                    now: MonotonicInstant(nanoseconds: 0), effects: &effects)
            }
            state.sleep()
            let isAdded = read.add(id, state.encoded())
            #expect(isAdded)
        }
        return read
    }

    private func query(
        _ key: String? = nil, search: String = "", limit: Int = 100, before: SessionID? = nil,
        labels: [SessionID: SessionLabel] = [:]
    ) -> SleeperQuery {
        SleeperQuery(project: key.map { APIKey($0) }, before: before, search: search, limit: limit, labels: labels)
    }

    private func ids(_ page: JSONValue) -> [String] {
        (page["items"]?.arrayValue ?? []).compactMap { $0["sessionId"]?.stringValue }
    }

    @Test("HIS-3: a project reads its own ranges, and sees its own sleepers only")
    func projects() throws {
        let read = try sleepers()
        for key in keys {
            let ranges = query(key).ranges
            let own = read.rows.map(\.id).filter { (try? SessionIDCodec.apiKey(of: $0)) == APIKey(key) }
            #expect(own.count == 3 && own.allSatisfy { id in ranges.contains { $0.contains(id) } })
            #expect(ids(query(key).page(of: read, followedBelow: nil)) == own.map(\.rawValue))
            let standard = SessionID("2_" + own[0].rawValue.dropFirst(2))
            #expect(ranges[0].contains(standard), "an ID of the other form, too")
        }
        #expect(query("another").ranges.allSatisfy { range in !read.rows.contains { range.contains($0.id) } })
        #expect(query().ranges == [.all] && query(before: SessionID("")).ranges.isEmpty)
        #expect(query("100", before: SessionID("2")).ranges == [query("100").ranges[1]])
    }

    @Test("HIS-3: a search finds labels, IDs and restricted users, and a page says where the list goes on")
    func searches() throws {
        let read = try sleepers()
        let all = read.rows.map(\.id)
        let labelled = all.filter { SessionIDCodec.label(of: $0) != nil }
        for (text, expected) in [
            ("SUPPORT", labelled), ("mallory", labelled), (String(all[3].rawValue.dropFirst(20)), [all[3]]),
            ("nobody", []), ("", all),
        ] {
            let page = query(search: text).page(of: read, followedBelow: nil)
            #expect(ids(page) == expected.map(\.rawValue), "\(text)")
            #expect(page["next"] == nil)
        }
        let named = query(search: "settings", labels: [all[4]: try #require(Self.settingsLabel)])
            .page(of: read, followedBelow: SessionID("below"))
        #expect(ids(named) == [all[4].rawValue] && named["next"] == "below", "another range follows")
        let short = query(search: "support", limit: 1).page(of: read, followedBelow: nil)
        #expect(ids(short) == [labelled[0].rawValue] && short["next"] == .string(labelled[0].rawValue))
        #expect(query(search: "x", limit: 1).readCount == SleeperQuery.searchedCount && query(limit: 7).readCount == 7)
    }

    @Test("HIS-3: a row says that nobody is there, what is kept, and how many restrictions hold")
    func rows() throws {
        let page = query("100", search: "support").page(of: try sleepers(), followedBelow: nil)
        let row = try #require(page["items"]?.arrayValue?.first)
        #expect(row["asleep"] == true && row["connections"] == 0 && row["restrictions"] == 1)
        #expect(row["hasHistory"] == true && row["lastJoinAt"] == nil)
    }
}
