import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

@Suite("The history of sessions that several nodes host")
struct ClusterHistoryTests {
    private let archive = HeldArchive()
    private let cluster: Cluster

    init() {
        cluster = Cluster(
            nodeCount: 2, bounds: .init(resumeWindow: .seconds(5), recoveryWindow: .seconds(5)),
            history: EngineHistory(policy: HistoryPolicy(standard: .only(["t"])), archive: archive))
    }

    private var a: ClusterNode { cluster.nodes[0] }
    private var b: ClusterNode { cluster.nodes[1] }

    /// Ada joins on the first node, writes, and leaves. Nobody is left.
    private func putToSleep() {
        a.join("ada")
        cluster.settle()
        a.signal("ada", 1)
        cluster.settle()
        a.leave("ada")
        cluster.pass(.seconds(1))
    }

    @Test("HIS-3, LOG-10: a room that everybody has left sleeps on no node, and a join on another node wakes it")
    func sleepAndWake() {
        putToSleep()
        #expect(!a.hosts() && !b.hosts())
        #expect(cluster.store.sleepingSessions == [room] && cluster.store.kept(room).entries.isEmpty)
        b.join("bob")
        cluster.settle()
        #expect(b.isKeeper && cluster.store.sleepingSessions.isEmpty)
        #expect((a.welcomes + b.welcomes).map(\.epoch) == [Epoch("epoch 1"), Epoch("epoch 1")])
        #expect(b.welcomes.last?.seq == Seq(4) && b.welcomes.last?.hasHistory == true)
        b.signal("bob", 2)
        cluster.settle()
        #expect(b.history() == ["2", "5"] && a.history() == ["2", "5"])
        #expect(cluster.disagreement() == nil)
    }

    @Test("HIS-1: a signal by REST wakes a sleeping room, which sleeps again; to a room that never was it gets 404")
    func byREST() {
        b.submit(.signal(.server, SignalRequest(type: "t", data: "early")), request: 1)
        cluster.settle()
        #expect(b.outcomes == ["1: refused 404 OT_NOT_FOUND"] && cluster.store.keptSessions.isEmpty)
        putToSleep()
        b.submit(.signal(.server, SignalRequest(type: "t", data: "night")), request: 2)
        cluster.pass(.seconds(1))
        #expect(b.outcomes.last == "2: signalled 4" && b.history() == ["2", "4"])
        b.submit(.erase(.server, .message(Seq(4))), request: 3)
        cluster.pass(.seconds(1))
        #expect(b.outcomes.last == "3: erased 5" && b.history() == ["2", "4 erased"])
        #expect(b.hosts() && cluster.store.sleepingSessions.isEmpty, "it stays awake for 10 s")
        cluster.pass(.seconds(10))
        #expect(!a.hosts() && !b.hosts() && cluster.store.sleepingSessions == [room])
    }

    @Test("HIS-3: a read, a leave of nobody, and the loss of a node do not wake a sleeper")
    func undisturbed() {
        putToSleep()
        let number = cluster.store.lastNumber(of: room)
        #expect(b.history() == ["2"])
        b.engine.listConnections(of: room) { #expect($0 == []) }
        b.submit(.signal(.server, SignalRequest(type: "t", isOnlineOnly: true)))
        cluster.pass(.seconds(40))
        a.log.stop()
        cluster.pass(.seconds(40))
        #expect(!b.hosts() && cluster.store.lastNumber(of: room) == number)
        #expect(cluster.store.sleepingSessions == [room])
    }

    @Test("HIS-3: a node that dies before it has stored the last state of a sleeper leaves that to the next one")
    func unstored() {
        b.join("bob")
        cluster.settle()
        b.signal("bob", 1)
        cluster.settle()
        b.leave("bob")
        // Until the end is in the log, and its submitter has not heard of it.
        for _ in 0..<100 {
            b.log.receive()
            b.engine.advance(to: cluster.now)
            b.log.send()
            if b.engine.state(of: room)?.isNeeded == false { break }
        }
        b.log.die()
        #expect(cluster.store.sleepingSessions.isEmpty && !cluster.store.kept(room).entries.isEmpty)
        cluster.store.declareLost(b.log)
        cluster.settle()
        #expect(!a.hosts() && cluster.store.sleepingSessions == [room])
        #expect(a.history() == ["2"])
    }

    @Test("HIS-4, HIS-9, LOG-35: what another node has confirmed counts for the mark of a shared page")
    func markOfAnotherNode() {
        a.join("ada")
        b.join("bob")
        cluster.settle()
        a.signal("ada", 1)
        cluster.settle()
        b.submit(.erase(.server, .message(Seq(3))), request: 7)
        // Until the second node has its answer, and the first has not heard of it.
        for _ in 0..<100 where !b.outcomes.contains("7: erased 4") {
            b.engine.advance(to: cluster.now)
            b.log.send()
            b.log.receive()
        }
        #expect(a.engine.state(of: room)?.log.lastSeq == Seq(3) && b.outcomes.last == "7: erased 4")
        var marks: [Seq?] = []
        for _ in 0..<3 {
            a.engine.readHistory(HistoryRequest(), of: room) { mark in
                marks.append(mark)
                return true
            } answer: { _ in
                Issue.record("the page is shared")
            }
        }
        cluster.settle()
        #expect(marks == [Seq(4), Seq(4), Seq(4)])
    }

    @Test("LOG-35: readers that come while a node asks its log share the next question")
    func waitingReaders() {
        var readers = WaitingReaders()
        var answered: [Int] = []
        func add(_ numbers: ClosedRange<Int>) {
            for number in numbers { readers.add { _ in answered.append(number) } }
        }
        add(1...2)
        let asks1 = readers.beginAsking()
        #expect(asks1 == true)
        add(3...4)
        let asks2 = readers.beginAsking()
        #expect(asks2 == false)
        for reader in readers.takeAsked() { reader(.unreadable) }
        #expect(answered == [1, 2])
        let asks3 = readers.beginAsking()
        #expect(asks3 == true)
        add(5...5)
        readers = readers.reopened
        // The answer to an earlier question says nothing of the new copy.
        let asks4 = readers.beginAsking()
        #expect(asks4 == true)
        for reader in readers.takeAll() { reader(.unreadable) }
        #expect(answered == [1, 2, 3, 4, 5] && readers.isEmpty)
    }

    @Test("LOG-6, HIS-1: a room that wakes has the limits of the node that wakes it")
    func newLimits() {
        putToSleep()
        for node in cluster.nodes { node.engine.changeLimits(to: .init(), .none, now: cluster.now) }
        b.join("bob")
        cluster.settle()
        b.signal("bob", 1)
        cluster.settle()
        #expect(!b.engine.keepsHistory(room) && b.history() == ["2"])
    }

    @Test("HIS-3: a session that begins after its order was lost begins far above its history, on whichever node")
    func lostOrder() {
        putToSleep()
        cluster.store.forget(room)
        archive.holdsReads = true
        a.join("ada")
        b.join("bob")
        cluster.settle()
        #expect(a.welcomes.count == 1 && b.welcomes.isEmpty, "the archive has not answered")
        archive.holdsReads = false
        archive.release()
        cluster.settle()
        #expect(a.welcomes.last?.epoch == Epoch("epoch 2") && b.welcomes.last?.epoch == Epoch("epoch 2"))
        #expect(Set([a.welcomes.last?.seq, b.welcomes.last?.seq]) == [Seq(1_000_000_003), Seq(1_000_000_004)])
        #expect(cluster.disagreement() == nil)
    }

    @Test("HIS-3: a session that another node begins while this one asks the archive is opened once more")
    func begunElsewhere() {
        // An empty archive is not asked.
        let message = ArchivedMessage(seq: Seq(1), time: WallTime(milliseconds: 0), head: [], content: nil)
        archive.append([message], to: SessionID(rawValue: "another")) { _ in }
        archive.holdsReads = true
        a.join("ada")
        cluster.settle()
        archive.holdsReads = false
        b.join("bob")
        cluster.settle()
        archive.release()
        cluster.settle()
        #expect(a.welcomes.count == 1 && b.welcomes.count == 1 && a.lost.isEmpty)
        #expect(cluster.disagreement() == nil && a.connections == b.connections && a.connections.count == 2)
    }

    @Test("HIS-3, G5: while the archive cannot be read, a session does not begin, and its joins are refused")
    func unreadableArchive() {
        archive.fails = true
        a.join("ada")
        cluster.settle()
        #expect(a.outcomes == ["1: unavailable"] && !a.hosts() && cluster.store.keptSessions.isEmpty)
    }

    @Test("HIS-4: a page has what was acknowledged on another node, whether or not this node hosts the session")
    func pageOfAnotherNode() {
        a.join("ada")
        cluster.settle()
        a.signal("ada", 1)
        cluster.settle()
        #expect(archive.appends.isEmpty && !b.hosts())
        #expect(b.history() == ["2"], "from the state, since no archive has it")
        b.join("bob")
        cluster.settle()
        a.signal("ada", 2)
        a.engine.advance(to: cluster.now)
        a.log.send()
        b.log.loseNotifications()
        #expect(b.history() == ["2", "4"])
    }

    @Test("HIS-3: what no archive has yet is archived before a node drops a session whose order is lost")
    func salvage() {
        a.join("ada")
        cluster.settle()
        archive.fails = true
        for number in 1...3 { a.signal("ada", number) }
        cluster.settle()
        a.submit(.erase(.server, .message(Seq(3))))
        cluster.settle()
        archive.fails = false
        #expect(archive.isEmpty)
        cluster.store.forget(room)
        cluster.settle()
        #expect(a.lost == [room] && a.history() == ["2", "3 erased", "4"])
        b.join("bob")
        cluster.settle()
        #expect(b.welcomes.last?.seq == Seq(1_000_000_005))
    }

    @Test(
        "HIS-3: what a node has for the archive that was away takes no seqs of an order that began meanwhile",
        arguments: [false, true])
    func lateSalvage(isDeclaredLost: Bool) {
        a.join("ada")
        cluster.settle()
        for number in 1...3 { a.signal("ada", number) }
        cluster.settle()
        a.isFrozen = true
        if isDeclaredLost { cluster.store.declareLost(a.log) }
        cluster.store.forget(room)
        b.join("bob")
        cluster.settle()
        b.signal("bob", 4)
        cluster.settle()
        // Neither the log nor the archive knew of the first order.
        #expect(b.welcomes.last?.seq == Seq(1) && b.history() == ["2"])
        a.isFrozen = false
        cluster.pass(.seconds(61))
        #expect(a.lost == [room] && archive.appends == [[2]])
        #expect(a.history() == ["2"] && b.history() == ["2"])
    }

    @Test("HIS-3: what a node has for the archive that was away is archived if the new order began far above")
    func lateSalvageBelow() {
        a.join("ada")
        cluster.settle()
        a.signal("ada", 1)
        cluster.pass(.seconds(61))
        a.signal("ada", 2)
        cluster.settle()
        #expect(archive.appends == [[2]])
        a.isFrozen = true
        cluster.store.forget(room)
        b.join("bob")
        cluster.settle()
        a.isFrozen = false
        cluster.settle()
        #expect(b.welcomes.last?.seq == Seq(1_000_000_003) && b.history() == ["2", "3"])
    }

    @Test("HIS-3: the node that takes over archives what its predecessor has not")
    func newKeeper() {
        a.join("ada")
        b.join("bob")
        cluster.settle()
        a.signal("ada", 1)
        cluster.settle()
        a.log.die()
        cluster.store.declareLost(a.log)
        cluster.pass(.seconds(61))
        #expect(b.isKeeper && archive.appends == [[3]])
        #expect(b.engine.sessions[room]?.state?.unarchived.isEmpty == true && b.history() == ["3"])
    }
}

extension ClusterNode {
    /// The seqs of the newest page of the room's history, and which of the messages are erased.
    fileprivate func history() -> [String] {
        var page: [String]?
        engine.readHistory(HistoryRequest(.newest, limit: 200), of: room) { result in
            page =
                (try? result.get().messages)?.map { "\($0.seq)" + ($0.content == nil ? " erased" : "") } ?? [
                    "unreadable"
                ]
        }
        cluster.settle()
        return page ?? ["no answer"]
    }
}
