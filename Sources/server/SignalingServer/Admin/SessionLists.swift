import SignalingCore
import SignalingProtocol
import SignalingTokens
import SignalingTransport

/// Makes the lists of sessions: reads the sessions in slices, and sorts them on another thread. Confined to the loop.
final class SessionLists {
    typealias Scope = AdminAPI.Scope

    /// The sessions that a turn of the loop reads: about a tenth of a millisecond.
    static let countPerTurn = 200

    private let hub: ServerHub
    private let work: SlicedWork<Scope>
    private var copies = ListCopies<Scope, SessionListing>()
    /// Requests for lists that are being made.
    private var waiting: [Scope: [(SessionListing) -> Void]] = [:]
    private var expiry: LoopTimer?
    /// From the settings; they come before those of the IDs. Replaced when the settings are reloaded.
    var labels: [SessionID: SessionLabel]

    init(hub: ServerHub, work: SlicedWork<Scope>, labels: [SessionID: SessionLabel]) {
        self.hub = hub
        self.work = work
        self.labels = labels
        expiry = hub.environment.makeTimer { [weak self] in self?.expire() }
    }

    /// Passes on the sessions that a caller may see, as they are now or were at most a second ago.
    func list(_ scope: Scope, _ answer: @escaping (SessionListing) -> Void) {
        let now = hub.environment.now
        if let copy = copies.list(of: scope, now: now) { return answer(copy) }
        if waiting[scope] != nil {
            waiting[scope]?.append(answer)
            return
        }
        guard let engine = hub.inspectableEngine else { return answer(.empty) }
        let sessions = engine.sessionIDs(of: scope.project)
        if sessions.isEmpty { return answer(.empty) }
        waiting[scope] = [answer]
        read(sessions[...], of: scope, engine, began: now)
    }

    private func read(
        _ sessions: ArraySlice<SessionID>, of scope: Scope, _ engine: any InspectableEngine, began: MonotonicInstant
    ) {
        var rest = sessions
        var rows: [SessionRow] = []
        rows.reserveCapacity(sessions.count)
        work.begin(for: scope) { [weak self, hub, labels] in
            let now = hub.environment.now
            for session in rest.prefix(Self.countPerTurn) {
                guard let state = engine.state(of: session) else { continue }
                rows.append(SessionRow(state, hub.rooms[session]?.traffic, labels: labels, now: now))
            }
            rest = rest.dropFirst(Self.countPerTurn)
            guard rest.isEmpty else { return false }
            hub.environment.loop.runInBackground(
                { [rows] in SessionListing(rows) },
                then: {
                    self?.finish($0, of: scope, began: began)
                })
            return true
        }
    }

    private func finish(_ listing: SessionListing, of scope: Scope, began: MonotonicInstant) {
        copies.keep(listing, of: scope, itemCount: listing.byTraffic.count, madeAt: began)
        armExpiry()
        for answer in waiting.removeValue(forKey: scope) ?? [] { answer(listing) }
    }

    private func expire() {
        copies.expire(upTo: hub.environment.now)
        armExpiry()
    }

    private func armExpiry() { if let next = copies.nextDeadline { expiry?.schedule(at: next) } }
}
