import SignalingCore
import SignalingProtocol
import Testing

@testable import SignalingServer

@Suite("Lists of sessions and connections")
struct ListTests {
    private typealias Copies = ListCopies<String, String>

    private func seconds(_ seconds: Double) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: Int64(seconds * 1_000_000_000))
    }

    @Test("G5: a list is made again after 0.2 ms for each item, but at the latest after a second")
    func ages() {
        for (count, age) in [(1, 0.000_2), (50, 0.01), (5_000, 1), (1_000_000, 1)] {
            var copies = Copies()
            copies.keep("list", of: "project", itemCount: count, madeAt: seconds(100))
            #expect(copies.list(of: "project", now: seconds(100 + age * 0.99)) == "list")
            #expect(copies.list(of: "project", now: seconds(100 + age * 1.01)) == nil)
            #expect(copies.list(of: "another project", now: seconds(100)) == nil)
        }
    }

    @Test("G5: copies that are too old give their memory back")
    func expiry() {
        var copies = Copies()
        #expect(copies.nextDeadline == nil)
        copies.keep("long", of: "a", itemCount: 5_000, madeAt: seconds(10))
        copies.keep("short", of: "b", itemCount: 500, madeAt: seconds(10))
        #expect(copies.nextDeadline == seconds(10.1))
        copies.expire(upTo: seconds(10.1))
        #expect(copies.count == 1 && copies.nextDeadline == seconds(11))
        copies.expire(upTo: seconds(11))
        #expect(copies.count == 0 && copies.nextDeadline == nil)
    }

    /// Sessions of 3, 0, 5 and 2 connections, in another order than that of their IDs.
    private let listing = SessionListing(
        [("d", 2), ("b", 0), ("a", 3), ("c", 5)].map { id, count in
            var state = SessionState(id: SessionID(id), epoch: Epoch("e"))
            var effects: [SessionEffect] = []
            for number in 0..<count {
                let join = JoinRequest(
                    connectionId: ConnectionID("\(id)\(number)"), socket: SocketID(UInt64(number)), role: .publisher,
                    data: "", wallTime: WallTime(milliseconds: 1), secretHash: ResumeSecretHash(bytes: []))
                _ = state.handle(.join(join), now: MonotonicInstant(nanoseconds: 0), effects: &effects)
            }
            return SessionRow(state, nil, labels: [:], now: MonotonicInstant(nanoseconds: 0))
        })

    @Test("sessions without traffic are in the order of their sizes, then of their IDs")
    func order() {
        #expect(listing.byTraffic.map(\.id.rawValue) == ["c", "a", "d", "b"])
        #expect(listing.connectionCount == 10)
    }

    @Test("the pages of the list of connections fit together, and none is read that is not on its page")
    func pages() {
        func names(_ parts: [SessionListing.Part]) -> [String] {
            parts.flatMap { part in (0..<part.limit).map { "\(part.session)\(part.offset + $0)" } }
        }
        let all = ["a0", "a1", "a2", "c0", "c1", "c2", "c3", "c4", "d0", "d1"]
        #expect(names(listing.parts(offset: 0, limit: 1_000)) == all)
        for limit in 1...11 {
            for offset in 0...11 {
                let page = names(listing.parts(offset: offset, limit: limit))
                #expect(page == Array(all.dropFirst(offset).prefix(limit)))
            }
        }
    }
}
