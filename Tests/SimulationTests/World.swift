import HeapModule
import JSONText
import SignalingCore
import SignalingProtocol
import SignalingVerification
import TestSupport

/// Clients, a network, a server and their clock, all made up: a seed gives the same story every time.
final class World {
    private struct Event: Comparable {
        let at: MonotonicInstant
        let number: Int
        let act: () -> Void
        static func < (left: Event, right: Event) -> Bool { (left.at, left.number) < (right.at, right.number) }
        static func == (left: Event, right: Event) -> Bool { left.number == right.number }
    }

    var random: SeededGenerator
    private(set) var now = MonotonicInstant(nanoseconds: 0)
    private var events = Heap<Event>()
    private var eventCount = 0
    let bounds: SessionState.Bounds
    let heartbeat = Duration.seconds(4)
    /// How far the wall clock is off.
    var clockError: Int64 = 0
    var wallTime: WallTime { WallTime(milliseconds: now.nanoseconds / 1_000_000 + clockError) }
    /// What a server has left that stopped, and when.
    private var left: SimulatedServer.Left?
    private(set) var stoppedAt = MonotonicInstant(nanoseconds: 0)
    private(set) var server: SimulatedServer?
    private(set) var clients: [SimulatedClient] = []
    private var backend = History.Client("rest")
    private var links: [Link] = []
    private var names = 0
    private var serverWake: MonotonicInstant?
    var logs: [Epoch: [History.LogRecord]] = [:]
    private(set) var counts: [String: Int] = [:]
    private(set) var faults: [String] = []
    /// The story, line by line, if somebody wants to read it.
    private(set) var script: [String] = []
    private let isTraced: Bool
    private var parser = JSONParser(limits: JSONLimits(depth: Limits.jsonDepth, byteCount: 1 << 20))
    private var decodings: [[UInt8]: ServerMessage] = [:]

    init(seed: UInt64, isTraced: Bool = false) {
        random = SeededGenerator(seed: seed)
        self.isTraced = isTraced
        let windows = [(4, 12), (8, 0), (0, 10), (6, 6)].randomElement(using: &random) ?? (4, 12)
        bounds = SessionState.Bounds(
            connectionCount: 8, logEventCount: Int.random(in: 8...40, using: &random), logByteCount: 100_000,
            resumeWindow: .seconds(windows.0), recoveryWindow: .seconds(windows.1),
            recoverableCount: Int.random(in: 1...4, using: &random))
        server = SimulatedServer(world: self)
        for number in 0..<Int.random(in: 2...4, using: &random) {
            clients.append(
                SimulatedClient(world: self, name: "c\(number)", suppressesPresence: chance(6)))
        }
    }

    func nextName() -> Int {
        names += 1
        return names
    }

    func count(_ what: String) { counts[what, default: 0] += 1 }
    func trace(_ line: @autoclosure () -> String) {
        if isTraced { script.append("\(Double(now.nanoseconds / 1_000_000) / 1000) s: \(line())") }
    }
    func fail(_ what: String) {
        trace("FAULT \(what)")
        faults.append(what)
    }

    func chance(_ outOf: Int) -> Bool { Int.random(in: 0..<outOf, using: &random) == 0 }

    func schedule(at moment: MonotonicInstant, _ act: @escaping () -> Void) {
        eventCount += 1
        events.insert(Event(at: max(moment, now), number: eventCount, act: act))
    }

    /// What a line says; lines that many get are read once.
    func decoded(_ line: [UInt8]) -> ServerMessage? {
        if let known = decodings[line] { return known }
        let message = try? line.withUnsafeBytes { try ServerMessage.decode(line: $0, parser: &parser) }
        decodings[line] = message
        return message
    }

    func open(_ client: SimulatedClient, _ generation: Int) -> Link? {
        guard let server else { return nil }
        let link = Link(id: links.count + 1, world: self, client: client, generation: generation, server: server)
        links.append(link)
        if isFaulty, chance(12) {
            count("slow way")
            link.slow(by: .milliseconds(Int.random(in: 1_000...16_000, using: &random)))
        }
        link.opens()
        return link
    }

    // MARK: - The story

    private var isFaulty = true

    /// Tells it to its end, and returns what was wrong with it.
    func run(actionCount: Int) -> [String] {
        for client in clients { schedule(at: now) { client.connect() } }
        var moment = now.advanced(by: .milliseconds(200))
        for _ in 0..<actionCount {
            moment = moment.advanced(
                by: .milliseconds(
                    chance(6) ? Int.random(in: 0...6_000, using: &random) : Int.random(in: 0...250, using: &random)))
            schedule(at: moment) { [self] in act() }
        }
        proceed(to: moment)
        isFaulty = false
        trace("the faults are over")
        if server == nil { startServer() }
        for link in links { link.goOn() }
        proceed(to: now.advanced(by: .seconds(45)))
        var history = History(logs: logs)
        history.clients = clients.map {
            History.Client($0.name, suppressesPresence: $0.suppressesPresence, steps: $0.notes)
        }
        history.clients.append(backend)
        for client in clients where !client.isConnected && !client.isOut { fail("\(client.name) has not settled") }
        let here = Set(server?.engine.connections(of: SimulatedServer.session).map(\.connectionId) ?? [])
        let connected = Set(clients.filter(\.isConnected).compactMap(\.connection))
        if here != connected { fail("G7: the server has \(here.sorted()), connected are \(connected.sorted())") }
        return faults + HistoryChecker.violations(in: history).map(\.description)
    }

    private func proceed(to end: MonotonicInstant) {
        while let next = events.min, next.at <= end {
            events.removeMin()
            now = next.at
            next.act()
            serverTurn()
        }
        now = max(now, end)
    }

    private func serverTurn() {
        guard let server else { return }
        server.advance()
        server.turnEnded()
        guard let deadline = server.nextDeadline else { return }
        if let serverWake, serverWake <= deadline, serverWake > now { return }
        serverWake = deadline
        schedule(at: deadline) { [self] in if serverWake == deadline { serverWake = nil } }
    }

    private func startServer() {
        server = SimulatedServer(world: self, left: left)
        left = nil
        serverWake = nil
        trace("the server is back")
    }

    private func act() {
        guard let client = clients.randomElement(using: &random) else { return }
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<34: send(client, isOnlineOnly: false)
        case 34..<44: send(client, isOnlineOnly: true)
        case 44..<50: signalByREST()
        case 50..<54: for _ in 0..<Int.random(in: 3...14, using: &random) { send(client, isOnlineOnly: chance(5)) }
        case 54..<76:
            guard let cut = Link.Cut.allCases.randomElement(using: &random), let link = client.link else { return }
            count("cut \(cut)")
            trace("cut \(cut) of \(client.name)")
            link.cut(cut)
        case 76..<82:
            guard let link = client.link else { return }
            count("stall")
            trace("\(client.name) stops reading")
            link.stall()
            schedule(at: now.advanced(by: .milliseconds(Int.random(in: 100...12_000, using: &random)))) { link.goOn() }
        case 82..<85: if chance(3) { restart() }
        case 85..<88: forceDisconnect(by: client)
        case 88..<90:
            trace("\(client.name) leaves")
            client.leave()
            count("left")
        case 90..<97: if client.isOut { client.connect() }
        case 97: clockError += Int64.random(in: -100_000...100_000, using: &random)
        case 98: client.hasExpiringToken.toggle()
        default: for client in clients { client.link?.cut(.both) }
        }
    }

    private func send(_ client: SimulatedClient, isOnlineOnly: Bool) {
        let everybody = clients.compactMap(\.connection)
        let to = chance(4) ? everybody.randomElement(using: &random) : nil
        trace("\(client.name) signals\(to.map { " to \($0)" } ?? "")\(isOnlineOnly ? ", online-only" : "")")
        client.signal(type: chance(2) ? "a" : nil, to: to, isOnlineOnly: isOnlineOnly)
    }

    private func signalByREST() {
        guard let server else { return }
        let data = "rest-\(backend.steps.count)"
        let to = chance(4) ? clients.compactMap(\.connection).randomElement(using: &random) : nil
        backend.steps.append(History.Step(now, .sent(History.Sending(data: data, to: to))))
        server.submit(.signal(.server, SignalRequest(data: data, to: to))) { [self] outcome in
            let answer: History.Answer =
                switch outcome {
                case .signalled(let seq): .acknowledged(seq)
                case .refused, .joined, .wasForceDisconnected, .done, .forceDisconnected: .refused
                }
            backend.steps.append(History.Step(now, .answered(data, answer)))
            count("by REST")
        }
    }

    private func forceDisconnect(by client: SimulatedClient) {
        guard let target = clients.randomElement(using: &random)?.connection else { return }
        trace("\(target) is forced out")
        count("forced out")
        if chance(2) {
            server?.submit(.forceDisconnect(.server, target)) { _ in }
        } else {
            client.forceDisconnect(target)
        }
    }

    private func restart() {
        guard let old = server else { return }
        count("restart")
        trace("the server stops")
        let isGraceful = !chance(3)
        if isGraceful {
            left = old.stop(keepsState: !chance(3))
            stoppedAt = now
            if left != nil { count("kept") }
        }
        server = nil
        for link in links { link.serverDies(after: .milliseconds(isGraceful ? 100 : 10)) }
        schedule(at: now.advanced(by: .milliseconds(Int.random(in: 50...3_000, using: &random)))) { [self] in
            if server == nil { startServer() }
        }
    }
}
