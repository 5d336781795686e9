import CoreTestSupport
import Foundation
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

/// Users who write, edit and erase on three nodes that die, freeze and come back, over an archive that hangs and fails:
/// and an independent fold of what was acknowledged.
private final class ChangingRoom {
    private static let users: [UserID] = ["u-1", "u-2", "u-3"]
    private static let bounds = SessionState.Bounds(resumeWindow: .seconds(5), recoveryWindow: .seconds(5))
    private var policy = HistoryPolicy(standard: .only(["t"]), changes: [.edit, .erase])

    private struct Said {
        var seq: Int64
        var user: Int
        var text: String?
        /// The seq of the last change, of an erasure, too.
        var changed: Int64 = 0
    }

    private var random: SeededGenerator
    private let archive = HeldArchive()
    private let cluster: Cluster
    private var said: [Int64: Said] = [:]
    private var bulkErasures: [Int64] = []
    /// Where each user is connected, by the index of the user.
    private var places: [(node: ClusterNode, name: String)?] = [nil, nil, nil]
    private var number = 0
    /// Whether all nodes know the rules from before changes only.
    private var isOld: Bool
    /// The end of the session when its nodes learned the newer rules.
    private var upgradedAt: Int64 = 0
    private(set) var counts: [String: Int] = [:]
    private(set) var faults: [String] = []

    /// - Parameter isOld: the session begins with the rules from before changes, and takes up the newer ones on the way.
    init(seed: UInt64, isOld: Bool, hasFeed: Bool = false) {
        policy.feed = hasFeed
        random = SeededGenerator(seed: seed)
        self.isOld = isOld
        cluster = Cluster(
            nodeCount: 3, bounds: Self.bounds, history: EngineHistory(policy: policy, archive: archive))
        guard isOld else { return }
        cluster.store.rewrite = { bytes in
            (try? LoggedCommand(decoding: bytes)).map { $0.encoded(by: .streams) } ?? bytes
        }
    }

    private func chance(_ outOf: Int) -> Bool { Int.random(in: 0..<outOf, using: &random) == 0 }

    func run(_ stepCount: Int) {
        for number in 0..<stepCount where faults.isEmpty {
            if isOld, number >= stepCount / 4 { upgrade() }
            step()
        }
        calm()
        for node in cluster.runningNodes { judgePages(node) }
        if policy.feed { judgeFeed() }
        if let fault = cluster.disagreement() { faults.append(fault) }
    }

    /// Nodes with the newer rules take the places of the others.
    private func upgrade() {
        guard sender(0) != nil else { return }
        (isOld, cluster.store.rewrite) = (false, { $0 })
        var bounds = Self.bounds
        bounds.asOf = WallTime(milliseconds: 1)
        for node in cluster.runningNodes { node.engine.changeLimits(to: bounds, policy, now: cluster.now) }
        cluster.settle()
        upgradedAt = cluster.runningNodes.compactMap(\.lastSeq).max() ?? 0
        counts["upgraded"] = 1
    }

    /// The feed has every message, and behind it every change.
    private func judgeFeed() {
        var announcements: [Announcement] = []
        archive.kept.read(APIKey("p"), from: .oldest, limit: .max) { result in
            if case .success(.page(let page)) = result { announcements = page.rows.flatMap(\.entry.announcements) }
        }
        for message in said.values {
            let first = announcements.firstIndex { announcement in
                guard case .messages(let first, let last, _) = announcement else { return false }
                return (first...last).contains(Seq(message.seq))
            }
            guard let first else {
                faults.append("FEED-1: the feed lacks \(message.seq)")
                continue
            }
            let isTold =
                message.changed == 0 || message.text == nil
                || announcements[first...].contains(.change(of: Seq(message.seq)))
            if !isTold { faults.append("FEED-1: the feed lacks the change of \(message.seq)") }
        }
        counts["announced"] = announcements.count
    }

    private func step() {
        let user = Int.random(in: 0..<Self.users.count, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<30: say(user)
        case 30..<65: edit(user)
        case 65..<75: erase(user)
        case 75: eraseMany()
        case 76..<80: archive.holdsWrites.toggle()
        case 80..<83: archive.fails.toggle()
        case 83..<85:
            archive.holdsWrites = false
            if policy.feed {
                let failing = Int.random(in: 0..<8, using: &random)
                archive.release { $0 == failing }
            } else {
                archive.release()
            }
        case 85..<87: kill()
        case 87: freeze()
        case 88..<94: cluster.pass(.milliseconds(Int.random(in: 1...3_000, using: &random)))
        case 94: cluster.pass(.seconds(70))
        default: if let node = cluster.runningNodes.randomElement(using: &random) { judgePages(node) }
        }
    }

    // MARK: - What users do

    /// The connection of a user, which joins if it has none.
    private func sender(_ user: Int) -> (node: ClusterNode, sender: CommandSender, request: Int)? {
        number += 1
        if let place = places[user], place.node.isFrozen { return nil }
        if places[user] == nil || places[user]?.node.log.isDead == true {
            guard let node = cluster.runningNodes.randomElement(using: &random) else { return nil }
            let name = "c\(number)"
            var join = JoinRequest(
                connectionId: client(name), role: .publisher, data: "", wallTime: WallTime(milliseconds: 5))
            join.user = Self.users[user]
            node.submit(.join(join), request: number)
            cluster.settle()
            guard node.outcomes.last?.contains("joined") == true else { return nil }
            places[user] = (node, name)
            number += 1
        }
        return places[user].map { ($0.node, .connection(SocketBinding($0.name), RequestID(Int64(number))), number) }
    }

    /// The seq of an acknowledgement; `nil` for any other answer. A node that dies or is frozen meanwhile gives none.
    private func submit(_ command: (CommandSender) -> SessionCommand, _ user: Int) -> (seq: Int64?, answer: String)? {
        guard let (node, sender, request) = sender(user) else { return nil }
        node.submit(command(sender), request: request)
        cluster.settle()
        guard let outcome = node.outcomes.last, outcome.hasPrefix("\(request): ") else { return nil }
        let words = outcome.split(separator: " ")
        let seq = words.count == 3 && words[1] != "refused" ? Int64(words[2]) : nil
        counts[String(words[1]) + (words[1] == "refused" ? " \(words[2])" : ""), default: 0] += 1
        return (seq, outcome)
    }

    private func say(_ user: Int) {
        let text = "said \(number)"
        guard let seq = submit({ .signal($0, SignalRequest(type: "t", data: text)) }, user)?.seq else { return }
        said[seq] = Said(seq: seq, user: user, text: text)
    }

    private func target() -> Said? {
        let seqs = said.keys.sorted()
        return (chance(2) ? seqs.suffix(6).randomElement(using: &random) : seqs.randomElement(using: &random))
            .flatMap { said[$0] }
    }

    /// Whether a user may change a message.
    private func mayChange(_ message: Said, _ user: Int) -> Bool {
        message.user == user && message.text != nil && message.seq > upgradedAt
    }

    private func edit(_ user: Int) {
        guard !isOld, let message = target() else { return }
        let text = String(repeating: "edit ", count: Int.random(in: 1...40, using: &random)) + "\(number)"
        let request = ChangeRequest(Seq(message.seq), .edit(data: text, isJSON: false))
        guard let (seq, answer) = submit({ .change($0, request) }, user) else { return }
        if let seq {
            if !mayChange(message, user) { faults.append("C3: \(answer) of \(message) by \(user)") }
            said[message.seq]?.text = text
            said[message.seq]?.changed = seq
        } else if mayChange(message, user) {
            faults.append("the author could not edit \(message): \(answer)")
        }
    }

    private func erase(_ user: Int) {
        guard !isOld, let message = target() else { return }
        guard let (seq, answer) = submit({ .erase($0, .message(Seq(message.seq))) }, user) else { return }
        guard let seq else {
            if mayChange(message, user) { faults.append("no delete of \(message): \(answer)") }
            return
        }
        if !mayChange(message, user) { faults.append("C3: \(answer) of \(message) by \(user)") }
        said[message.seq]?.text = nil
        said[message.seq]?.changed = seq
    }

    private func eraseMany() {
        guard let node = cluster.runningNodes.randomElement(using: &random), let message = target() else { return }
        number += 1
        let erasure: Erasure = chance(2) ? .through(Seq(message.seq)) : .user(Self.users[message.user])
        node.submit(.erase(.server, erasure), request: number)
        cluster.settle()
        guard let outcome = node.outcomes.last, outcome.hasPrefix("\(number): erased "),
            let seq = outcome.split(separator: " ").last.flatMap({ Int64($0) })
        else { return }
        bulkErasures.append(seq)
        counts["\(erasure)".prefix(4) + "", default: 0] += 1
        for (ref, other) in said {
            switch erasure {
            case .through(let last): if ref <= last.rawValue { said[ref] = nil }
            case .user, .message: if other.user == message.user { said[ref]?.text = nil }
            }
        }
    }

    // MARK: - What befalls the nodes

    private func kill() {
        guard cluster.runningNodes.count > 1, let node = cluster.runningNodes.randomElement(using: &random) else {
            return
        }
        counts["killed", default: 0] += 1
        node.log.die()
        cluster.store.declareLost(node.log)
        for user in places.indices where places[user]?.node === node { places[user] = nil }
        cluster.addNode()
        cluster.settle()
    }

    private func freeze() {
        guard cluster.runningNodes.count > 2, let node = cluster.runningNodes.randomElement(using: &random) else {
            return
        }
        counts["frozen", default: 0] += 1
        node.isFrozen = true
        cluster.pass(.seconds(1))
        node.isFrozen = false
        cluster.settle()
    }

    private func calm() {
        (archive.fails, archive.holdsWrites) = (false, false)
        for _ in 0..<4 {
            archive.release()
            cluster.pass(.seconds(70))
        }
    }

    // MARK: - What a node shows

    private func judgePages(_ node: ClusterNode) {
        let expected = said.values.sorted { $0.seq < $1.seq }.suffix(200).map(Self.line)
        let found = read(node, HistoryRequest(.newest, limit: 200)).map { $0.messages.map(Self.line) }
        if let found, found != Array(expected) {
            let pair = zip(found, expected).first { $0 != $1 }.map { "\($0)" }
            faults.append("C2: node \(node.name) shows \(pair ?? "\(found.count) of \(expected.count)")")
        }
        if isOld { return }
        let start = Int64.random(in: 0...max(1, (said.keys.max() ?? 1)), using: &random)
        guard let list = read(node, HistoryRequest(.changedAfter(Seq(start)), limit: 200)) else { return }
        counts["lists", default: 0] += 1
        let due = said.values.filter { $0.changed > start }.sorted { $0.changed < $1.changed }
        if list.changes?.isAll == true {
            counts["all", default: 0] += 1
            let isDue =
                bulkErasures.contains { $0 > start } || said.values.isEmpty || counts["killed"] != nil
                || start < upgradedAt
            if !isDue { faults.append("CHG-9: the node \(node.name) lists no changes after \(start)") }
        } else if list.messages.map(Self.line) != due.prefix(list.messages.count).map(Self.line)
            || (!list.more && list.messages.count != due.count)
        {
            let found = list.messages.map(Self.line)
            faults.append("CHG-9: after \(start): \(found) in the place of \(due.map(Self.line))")
        }
    }

    private func read(_ node: ClusterNode, _ request: HistoryRequest) -> ArchivePage? {
        var page: ArchivePage?
        node.engine.readHistory(request, of: room) { if case .success(let found) = $0 { page = found } }
        cluster.settle()
        return page
    }

    private static func line(_ message: Said) -> String {
        "\(message.seq) " + (message.text.map { "\($0) \(message.changed)" } ?? "erased")
    }

    private static func line(_ message: ArchivedMessage) -> String {
        guard let content = message.content else { return "\(message.seq) erased" }
        let data = text(content).split(separator: #""data":""#).last?.split(separator: "\"").first ?? ""
        return "\(message.seq) \(data) \(message.version?.rawValue ?? 0)"
    }
}

@Suite("Random changes on several nodes")
struct RandomChangesTests {
    /// `SIGNALBOX_CHANGES=200x20000` runs so many seeds with so many steps each.
    private static let plan: (seeds: UInt64, steps: Int) = {
        let parts = (ProcessInfo.processInfo.environment["SIGNALBOX_CHANGES"] ?? "").split(separator: "x")
        guard parts.count == 2, let seeds = UInt64(parts[0]), let steps = Int(parts[1]), seeds > 0 else {
            return (24, 250)
        }
        return (seeds, steps)
    }()

    @Test(
        "C1, C2, C3, CHG-9, LOG-16: whatever dies, every node shows each acknowledged change, and lists it",
        arguments: 1...plan.seeds)
    func everyNodeShowsThem(seed: UInt64) {
        let isOld = seed % 3 == 0
        let room = ChangingRoom(seed: seed, isOld: isOld)
        room.run(Self.plan.steps)
        #expect(room.faults.isEmpty, "seed \(seed): \(room.faults.prefix(2))")
        let due = ["signalled", "changed", "erased", "refused 403", "refused 404", "lists"]
        for what in due + (isOld ? ["upgraded"] : []) {
            #expect((room.counts[what] ?? 0) > 0, "seed \(seed) covered no \(what)")
        }
    }

    @Test(
        "FEED-1, HIS-3: whatever dies, the feed has each acknowledged message and change, and the history, too",
        arguments: 1...plan.seeds)
    func feedHasThem(seed: UInt64) {
        let room = ChangingRoom(seed: seed, isOld: false, hasFeed: true)
        room.run(Self.plan.steps)
        #expect(room.faults.isEmpty, "seed \(seed): \(room.faults.prefix(2))")
        #expect((room.counts["announced"] ?? 0) > 10)
    }
}
