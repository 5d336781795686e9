import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingTransport

@Suite("Which connections the server accepts")
struct AdmissionControlTests {
    typealias Phase = AdmissionControl.Phase
    private static let start = MonotonicInstant(nanoseconds: 1_000_000_000)
    private let ada = PeerAddress("192.0.2.1")!
    private let bob = PeerAddress("192.0.2.2")!

    private static func after(_ seconds: Double) -> MonotonicInstant { start.advanced(by: .seconds(seconds)) }

    private func control(
        connections: Int = 100, places: Int = 100, reserve: Int = 1, perAddress: AddressLimit? = nil,
        proxies: [String] = []
    ) -> AdmissionControl {
        AdmissionControl(
            bounds: .init(
                connectionCount: connections, placeCount: places, reserveCount: reserve, perAddress: perAddress,
                trustedProxies: TrustedProxies(blocks: proxies.compactMap { AddressBlock($0) })))
    }

    private func limit(_ count: Int, unjoined: Int = 100, perSecond: Int = 100, burst: Int = 100) -> AddressLimit {
        var limit = AddressLimit(connectionCount: count, exemptsLoopback: true)
        (limit.unjoinedCount, limit.perSecond, limit.burst) = (unjoined, perSecond, burst)
        return limit
    }

    /// Brings a new connection into a phase.
    private func add(
        _ id: UInt64, in phase: Phase, to control: inout AdmissionControl, at seconds: Double = 0
    ) -> AdmissionControl.Decision {
        let decision = control.connect(id, from: ada, now: Self.after(seconds))
        if phase == .held { return decision }
        guard case .admit = decision else { return decision }
        let adoption = control.adopt(id, mayAskForHealth: true, now: Self.after(seconds))
        if phase != .receiving { control.move(id, to: phase, now: Self.after(seconds)) }
        return adoption
    }

    @Test(
        "a full server: who gives way to a newcomer at once and after the grace time",
        arguments: [
            (Phase.held, false, true), (.receiving, false, true), (.unread, false, true), (.idle, true, true),
            (.unjoined, false, true), (.serving, false, false), (.joined, false, false),
        ])
    func displacement(phase: Phase, atOnce: Bool, later: Bool) {
        for (seconds, gives) in [(0.0, atOnce), (0.249, atOnce), (0.25, later)] {
            var control = control(connections: 1)
            #expect(add(1, in: phase, to: &control) == .admit(displacing: nil))
            let decision = control.connect(2, from: ada, now: Self.after(seconds))
            #expect(decision == (gives ? .admit(displacing: 1) : .admitToReserve(displacing: nil)), "\(seconds) s")
            #expect(control.connectionCount == 1)
            var exhausted = self.control()
            _ = add(1, in: phase, to: &exhausted)
            #expect(exhausted.makeRoom(now: Self.after(seconds)) == (gives ? 1 : nil), "\(seconds) s")
        }
    }

    @Test(
        "header places run short: who gives way to a complete request",
        arguments: [
            (Phase.held, false), (.receiving, true), (.unread, true), (.idle, true), (.unjoined, false),
            (.serving, false), (.joined, false),
        ])
    func places(phase: Phase, gives: Bool) {
        var control = control(places: 1)
        #expect(add(1, in: phase, to: &control) == .admit(displacing: nil))
        _ = control.connect(2, from: ada, now: Self.after(5))
        let expected: AdmissionControl.Decision =
            !phase.usesPlace
            ? .admit(displacing: nil) : gives ? .admit(displacing: 1) : .admitToReserve(displacing: nil)
        #expect(control.adopt(2, mayAskForHealth: true, now: Self.after(5)) == expected)
    }

    @Test("idle connections give way first, then the one that has waited longest")
    func order() {
        var control = control(connections: 4)
        _ = add(1, in: .unjoined, to: &control, at: 0)
        _ = add(2, in: .held, to: &control, at: 1)
        _ = add(3, in: .unread, to: &control, at: 2)
        _ = add(4, in: .idle, to: &control, at: 3)
        var displaced: [UInt64] = []
        for id in UInt64(5)...8 {
            guard case .admit(let victim?) = control.connect(id, from: ada, now: Self.after(9)) else { break }
            displaced.append(victim)
            control.disconnect(victim)
        }
        // The newcomers are all younger than the grace time.
        #expect(displaced == [4, 1, 2, 3])
        #expect(control.connect(9, from: ada, now: Self.after(9)) == .admitToReserve(displacing: nil))
    }

    @Test("the time counts from the phase's begin, and a phase that is reported again changes nothing")
    func since() {
        var control = control(connections: 2)
        _ = add(1, in: .unread, to: &control, at: 0)
        _ = add(2, in: .unread, to: &control, at: 1)
        control.move(1, to: .unread, now: Self.after(2))
        #expect(control.connect(3, from: ada, now: Self.after(3)) == .admit(displacing: 1))
        control.move(2, to: .serving, now: Self.after(3))
        control.move(2, to: .unread, now: Self.after(3))
        #expect(control.connect(4, from: ada, now: Self.after(3.2)) == .admitToReserve(displacing: nil))
    }

    @Test("the reserve: its oldest gives way, it uses no place, and it does not become a normal connection")
    func reserve() {
        var control = control(connections: 1, places: 1, reserve: 2)
        _ = add(1, in: .joined, to: &control)
        for id in UInt64(2)...3 {
            #expect(control.connect(id, from: ada, now: Self.start) == .admitToReserve(displacing: nil))
            #expect(control.adopt(id, mayAskForHealth: true, now: Self.start) == .admitToReserve(displacing: nil))
            #expect(control.isReserved(id))
        }
        #expect(control.connect(4, from: ada, now: Self.start) == .admitToReserve(displacing: 2))
        control.disconnect(2)
        #expect((control.connectionCount, control.placeCount, control.reservedCount) == (1, 0, 2))
        control.disconnect(1)
        #expect(control.connect(5, from: ada, now: Self.start) == .admit(displacing: nil))
        #expect(control.isReserved(3) && !control.isReserved(5))
    }

    @Test("the reserve is for questions of health: other requests are refused, and an answer that is sent stays")
    func health() {
        var busy = control(connections: 2, places: 1, reserve: 1)
        _ = add(1, in: .serving, to: &busy)
        #expect(busy.connect(2, from: ada, now: Self.start) == .admit(displacing: nil))
        #expect(busy.adopt(2, mayAskForHealth: false, now: Self.start) == .refuse(.serverFull))
        #expect(busy.adopt(2, mayAskForHealth: true, now: Self.start) == .admitToReserve(displacing: nil))

        var control = control(connections: 1, reserve: 1)
        _ = add(1, in: .joined, to: &control)
        #expect(control.connect(2, from: ada, now: Self.start) == .admitToReserve(displacing: nil))
        #expect(control.adopt(2, mayAskForHealth: true, now: Self.start) == .admitToReserve(displacing: nil))
        control.move(2, to: .serving, now: Self.start)
        #expect(control.connect(4, from: ada, now: Self.start) == .refuse(.serverFull))
        control.move(2, to: .unread, now: Self.start)
        #expect(control.connect(5, from: ada, now: Self.start) == .admitToReserve(displacing: 2))
        #expect(control.adopt(5, mayAskForHealth: false, now: Self.start) == .refuse(.serverFull))
    }

    @Test("without a reserve a full server refuses, and the refused connection counts for no address")
    func noReserve() {
        var control = control(connections: 1, reserve: 0, perAddress: limit(2))
        _ = add(1, in: .joined, to: &control)
        for id in UInt64(2)...9 { #expect(control.connect(id, from: ada, now: Self.start) == .refuse(.serverFull)) }
        control.disconnect(1)
        #expect(control.connect(10, from: ada, now: Self.start) == .admit(displacing: nil))
    }

    @Test("an address: its open connections, its unjoined ones and its rate are limited, others are not affected")
    func addresses() {
        var open = control(perAddress: limit(2))
        _ = add(1, in: .joined, to: &open)
        _ = add(2, in: .joined, to: &open)
        #expect(open.connect(3, from: ada, now: Self.start) == .refuse(.addressConnections))
        #expect(open.connect(4, from: bob, now: Self.start) == .admit(displacing: nil))
        open.disconnect(1)
        #expect(open.connect(5, from: ada, now: Self.start) == .admit(displacing: nil))

        var unjoined = control(perAddress: limit(9, unjoined: 1))
        _ = add(1, in: .unjoined, to: &unjoined)
        #expect(unjoined.connect(2, from: ada, now: Self.start) == .refuse(.addressUnjoined))
        unjoined.move(1, to: .joined, now: Self.start)
        #expect(unjoined.connect(3, from: ada, now: Self.start) == .admit(displacing: nil))
        unjoined.disconnect(1)
        #expect(unjoined.connect(4, from: ada, now: Self.start) == .refuse(.addressUnjoined))

        var rate = control(perAddress: limit(99, perSecond: 2, burst: 3))
        for id in UInt64(1)...3 { #expect(rate.connect(id, from: ada, now: Self.start) == .admit(displacing: nil)) }
        #expect(rate.connect(4, from: ada, now: Self.start) == .refuse(.addressRate))
        #expect(rate.connect(5, from: ada, now: Self.after(0.4)) == .refuse(.addressRate))
        #expect(rate.connect(6, from: ada, now: Self.after(0.5)) == .admit(displacing: nil))
    }

    @Test("a joined connection that is being closed still counts as joined for its address")
    func leaving() {
        var control = control(perAddress: limit(9, unjoined: 1))
        _ = add(1, in: .joined, to: &control)
        control.move(1, to: .leaving, now: Self.start)
        control.disconnect(1)
        #expect(control.connect(2, from: ada, now: Self.start) == .admit(displacing: nil))
        #expect(control.connect(3, from: ada, now: Self.start) == .refuse(.addressUnjoined))
    }

    @Test("IPv6 counts by /64, IPv4 as a whole")
    func prefixes() throws {
        var control = control(perAddress: limit(1))
        let cases: [(String, AdmissionControl.Decision)] = [
            ("2001:db8:0:1::1", .admit(displacing: nil)), ("2001:db8:0:1:ffff::9", .refuse(.addressConnections)),
            ("2001:db8:0:2::1", .admit(displacing: nil)), ("192.0.2.7", .admit(displacing: nil)),
            ("192.0.2.8", .admit(displacing: nil)), ("192.0.2.7", .refuse(.addressConnections)),
        ]
        for (id, (text, expected)) in cases.enumerated() {
            let address = try #require(PeerAddress(text))
            #expect(control.connect(UInt64(id), from: address, now: Self.start) == expected, "\(text)")
        }
    }

    @Test("loopback addresses are exempt unless the limit says otherwise; trusted proxies always are")
    func exemptions() throws {
        for (text, exempts, isLimited) in [
            ("127.0.0.1", true, false), ("127.9.9.9", true, false), ("::1", true, false), ("127.0.0.1", false, true),
            ("::1", false, true), ("10.0.0.7", false, false), ("10.0.1.7", true, true),
        ] {
            var limit = limit(1)
            limit.exemptsLoopback = exempts
            var control = control(perAddress: limit, proxies: ["10.0.0.0/24"])
            let address = try #require(PeerAddress(text))
            _ = control.connect(1, from: address, now: Self.start)
            let second = control.connect(2, from: address, now: Self.start)
            #expect((second == .refuse(.addressConnections)) == isLimited, "\(text)")
        }
    }

    @Test("a connection of a trusted proxy counts for the client that the proxy names")
    func identification() throws {
        var control = control(perAddress: limit(1), proxies: ["10.0.0.1"])
        let proxy = try #require(PeerAddress("10.0.0.1"))
        for id in UInt64(1)...3 {
            #expect(control.connect(id, from: proxy, now: Self.start) == .admit(displacing: nil))
        }
        #expect(control.identify(1, as: ada, now: Self.start) == nil)
        #expect(control.identify(1, as: ada, now: Self.start) == nil, "the next request of the same client")
        #expect(control.identify(2, as: ada, now: Self.start) == .addressConnections)
        // The proxy sends another client's request on the first connection.
        #expect(control.identify(1, as: bob, now: Self.start) == nil)
        #expect(control.identify(2, as: ada, now: Self.start) == nil)
        control.disconnect(1)
        #expect(control.identify(3, as: bob, now: Self.start) == nil)
    }

    @Test("events of unknown connections change nothing", arguments: Phase.allCases)
    func unknown(phase: Phase) {
        var control = control()
        control.move(7, to: phase, now: Self.start)
        control.disconnect(7)
        #expect(control.adopt(7, mayAskForHealth: true, now: Self.start) == .refuse(.serverFull))
        #expect(control.identify(7, as: ada, now: Self.start) == nil)
        #expect((control.connectionCount, control.placeCount, control.reservedCount) == (0, 0, 0))
    }

    @Test("after any events the counts are those of the connections, and all are zero when all have gone")
    func property() {
        var randomness = SeededGenerator(seed: 20_261_122)
        for round in 0..<200 {
            var control = control(connections: 8, places: 4, reserve: 2, perAddress: limit(5, unjoined: 4))
            var open: [UInt64: Phase] = [:]
            var now = Self.start
            func follow(_ decision: AdmissionControl.Decision, _ id: UInt64, _ phase: Phase) {
                switch decision {
                case .admit(let victim), .admitToReserve(let victim):
                    if let victim {
                        #expect(open[victim] != .joined && open[victim] != .serving)
                        open[victim] = .leaving
                    }
                    open[id] = phase
                case .refuse: open[id] = nil
                }
            }
            for id in UInt64(1)...120 {
                now = now.advanced(by: .milliseconds(Int.random(in: 0...600, using: &randomness)))
                let peer = Bool.random(using: &randomness) ? ada : bob
                follow(control.connect(id, from: peer, now: now), id, .held)
                for (other, phase) in open.sorted(by: { $0.key < $1.key }) where open[other] == phase {
                    switch (phase, Int.random(in: 0..<6, using: &randomness)) {
                    case (_, 0):
                        control.disconnect(other)
                        open[other] = nil
                    case (.held, 1...3):
                        follow(control.adopt(other, mayAskForHealth: true, now: now), other, .receiving)
                    case (.receiving, 1), (.idle, 1):
                        control.move(other, to: .serving, now: now)
                        open[other] = .serving
                    case (.serving, 1):
                        control.move(other, to: .idle, now: now)
                        open[other] = .idle
                    case (.serving, 2) where !control.isReserved(other):
                        control.move(other, to: .unjoined, now: now)
                        control.move(other, to: .joined, now: now)
                        open[other] = .joined
                    default: break
                    }
                }
                let normal = open.filter { $0.value != .leaving && !control.isReserved($0.key) }
                #expect(control.connectionCount == normal.count, "round \(round)")
                #expect(control.placeCount == normal.values.count(where: \.usesPlace), "round \(round)")
                #expect(control.connectionCount <= 8 && control.placeCount <= 4 && control.reservedCount <= 2)
            }
            for id in open.keys { control.disconnect(id) }
            #expect((control.connectionCount, control.placeCount, control.reservedCount) == (0, 0, 0))
            now = now.advanced(by: .seconds(60))
            for id in UInt64(200)..<204 { #expect(control.connect(id, from: ada, now: now) == .admit(displacing: nil)) }
        }
    }
}
