import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

private func untoldBounds() -> SessionState.Bounds {
    var bounds = SessionState.Bounds(recoveryWindow: .zero)
    bounds.untoldEventCount = 100
    return bounds
}

@Suite("Several nodes over one log")
struct ClusterTests {
    @Test("G1: clients of two nodes are in one session, and every node has the same copy of it")
    func oneSession() {
        let cluster = Cluster(nodeCount: 2)
        cluster.nodes[0].join("ada")
        cluster.settle()
        cluster.nodes[1].join("bob", request: 2)
        cluster.settle()
        cluster.nodes[0].signal("ada", 3)
        cluster.nodes[1].signal("bob", 4)
        cluster.settle()
        #expect(cluster.nodes[0].outcomes == ["1: joined ada at 1", "3: signalled 3"])
        #expect(cluster.nodes[1].outcomes == ["2: joined bob at 2", "4: signalled 4"])
        #expect(cluster.nodes.map(\.lastSeq) == [4, 4])
        #expect(cluster.nodes.map(\.changeCount) == [4, 3], "a node reports events since it has opened the session")
        #expect(cluster.nodes.map(\.isKeeper) == [true, false])
        #expect(cluster.disagreement() == nil)
    }

    @Test("two nodes that begin a session at the same time share it")
    func beginTogether() {
        let cluster = Cluster(nodeCount: 2)
        cluster.nodes[0].join("ada")
        cluster.nodes[1].join("bob", request: 2)
        cluster.settle()
        #expect(cluster.nodes[0].outcomes == ["1: joined ada at 1"])
        #expect(cluster.nodes[1].outcomes == ["2: joined bob at 2"])
        #expect(cluster.nodes[1].connections == ["ada", "bob"])
        #expect(cluster.disagreement() == nil)
    }

    @Test("a connection resumes on another node, and its old socket is closed where it is")
    func resumeElsewhere() {
        let cluster = Cluster(nodeCount: 2)
        cluster.nodes[0].join("ada")
        cluster.nodes[0].signal("ada", 2)
        cluster.settle()
        cluster.nodes[1].resume("ada", after: 1, request: 3)
        cluster.settle()
        #expect(cluster.nodes[1].outcomes == ["3: joined ada at 1 resumed through 2"])
        #expect(cluster.nodes[0].ended == ["superseded 1"])
        cluster.nodes[1].signal("ada", 2, socket: 2)
        cluster.settle()
        #expect(cluster.nodes[1].outcomes.last == "2: signalled 2", "RES-9: the answers are everywhere")
        cluster.nodes[0].submit(.forceDisconnect(.server, client("ada")), request: 9)
        cluster.settle()
        #expect(cluster.nodes[1].ended.last == "ended ada forceDisconnected")
    }

    // MARK: - Opening and letting go

    @Test("LOG-35: a signal by REST reaches a session that its node does not host, and the node lets it go after 30 s")
    func restElsewhere() {
        let cluster = Cluster(nodeCount: 2)
        cluster.nodes[0].join("ada")
        cluster.settle()
        cluster.nodes[1].submit(.signal(.server, SignalRequest(data: "x")), request: 5)
        #expect(cluster.nodes[1].outcomes.isEmpty)
        cluster.settle()
        #expect(cluster.nodes[1].outcomes == ["5: signalled 2"])
        #expect(cluster.nodes[0].lastSeq == 2)
        cluster.pass(.seconds(29))
        #expect(cluster.nodes[1].hosts())
        cluster.nodes[1].submit(.signal(.server, SignalRequest(data: "y")), request: 6)
        cluster.pass(.seconds(29))
        #expect(cluster.nodes[1].hosts(), "each use counts")
        cluster.pass(.seconds(40))
        #expect(!cluster.nodes[1].hosts())
        #expect(cluster.nodes[1].log.followed.isEmpty)
        #expect(cluster.nodes[0].hosts(), "the keeper never lets a session go")
        cluster.nodes[1].submit(.signal(.server, SignalRequest(data: "z")), request: 7)
        cluster.settle()
        #expect(cluster.nodes[1].outcomes.last == "7: signalled 4", "the node goes on with its last counter")
        #expect(cluster.disagreement() == nil)
    }

    @Test("a node with a connection that has a socket keeps the session, and lets it go after the socket's end")
    func letGoOfClients() {
        let cluster = Cluster(nodeCount: 2)
        cluster.nodes[0].join("ada")
        cluster.settle()
        cluster.nodes[1].join("bob", request: 2)
        cluster.pass(.seconds(100))
        #expect(cluster.nodes[1].hosts())
        cluster.nodes[1].leave("bob")
        cluster.pass(.seconds(60))
        #expect(!cluster.nodes[1].hosts())
    }

    @Test("a command to a session that does not exist is refused, and nothing is left behind")
    func unknownSession() {
        let cluster = Cluster(nodeCount: 1)
        let node = cluster.nodes[0]
        node.submit(.signal(.server, SignalRequest()), request: 5)
        node.submit(.signal(.server, SignalRequest(isOnlineOnly: true)), request: 6)
        node.submit(.leave(SocketBinding("ada"), .clientDisconnected), request: 7)
        cluster.settle()
        #expect(node.outcomes == ["5: refused 404 OT_NOT_FOUND", "6: refused 404 OT_NOT_FOUND", "7: done"])
        #expect(node.engine.sessionCount == 0)
        #expect(cluster.store.keptSessions.isEmpty)
    }

    @Test("LOG-35: a list of connections has everything that the log had when it was asked for")
    func list() {
        let cluster = Cluster(nodeCount: 2)
        cluster.nodes[0].join("ada")
        cluster.settle()
        var lists: [[String]?] = []
        let read = { (connections: [Connection]?) in lists.append(connections?.map(\.connectionId.rawValue)) }
        cluster.nodes[1].engine.listConnections(of: room, answer: read)
        cluster.settle()
        #expect(lists == [["ada"]])
        cluster.nodes[0].join("bob", request: 2)
        cluster.nodes[0].engine.advance(to: cluster.now)
        cluster.nodes[0].log.send()
        cluster.nodes[1].engine.listConnections(of: room, answer: read)
        #expect(lists.count == 1)
        cluster.settle()
        #expect(lists.last == ["ada", "bob"])
        cluster.nodes[1].engine.listConnections(of: SessionID("1_none"), answer: read)
        cluster.settle()
        #expect(lists.last == [])
        #expect(!cluster.nodes[1].hosts(SessionID("1_none")))
    }

    @Test("LOG-7: a session that this node cannot read is refused here, and goes on elsewhere")
    func unreadable() {
        let cluster = Cluster(nodeCount: 2)
        cluster.nodes[0].join("ada")
        cluster.settle()
        cluster.nodes[0].log.keep(
            CommandSnapshot(session: room, position: cluster.nodes[0].engine.sessions[room]!.position!) { [255] })
        cluster.settle()
        cluster.nodes[1].join("bob", request: 2)
        cluster.settle()
        #expect(cluster.nodes[1].outcomes == ["2: unavailable"])
        #expect(cluster.nodes[1].unreadable.map(\.session) == [room])
        cluster.nodes[0].signal("ada", 3)
        cluster.settle()
        #expect(cluster.nodes[0].outcomes.last == "3: signalled 2")
        var lists: [[Connection]?] = []
        cluster.nodes[1].engine.listConnections(of: room) { lists.append($0) }
        cluster.settle()
        #expect(lists == [nil], "an empty list would be wrong")
    }

    @Test("LOG-7: nodes that meet a command of later rules serve the session no more, and say which sockets they lost")
    func laterRules() throws {
        let cluster = Cluster(nodeCount: 2)
        cluster.nodes[0].join("ada")
        cluster.nodes[1].join("bob", request: 2)
        cluster.settle()
        cluster.nodes[0].signal("ada", 3)
        cluster.settle()
        let acknowledged = cluster.store.kept(room).entries
        let other = SessionID("1_other")
        cluster.nodes[0].submit(
            .join(
                JoinRequest(
                    connectionId: client("cyd"), role: .publisher, data: "", wallTime: WallTime(milliseconds: 5))),
            in: other, request: 4)
        cluster.settle()

        let later = cluster.store.makeNode()
        later.open(room)
        later.send()
        later.receive()
        let id = CommandID(run: later.run, counter: 1)
        let bytes = [RulesVersion.current.rawValue + 1, 9]
        later.append([CommandAppend(session: room, id: id, bytes: bytes)], now: cluster.now)
        later.send()
        // In the log behind the command that the node cannot read.
        cluster.nodes[0].signal("ada", 5)
        cluster.nodes[0].engine.advance(to: cluster.now)
        cluster.nodes[0].log.send()
        cluster.settle()
        #expect(cluster.nodes.map(\.lost) == [[room], [room]], "their clients go to other nodes")
        #expect(cluster.nodes[0].outcomes.last == "5: unavailable, may be carried out")
        #expect(
            cluster.nodes.flatMap(\.unreadable).map(\.fault)
                == Array(repeating: .version(RulesVersion.current.rawValue + 1), count: 2))
        #expect(!cluster.nodes[0].hosts() && !cluster.nodes[1].hosts())

        // A node with the later rules has everything that was acknowledged, and learns which sockets are closed.
        let entries = cluster.store.kept(room).entries
        #expect(entries.prefix(acknowledged.count).map(\.position) == acknowledged.map(\.position))
        var lost: Set<RunID> = []
        for entry in entries {
            if case .nodeLost(let run?, _) = try? LoggedCommand(decoding: entry.bytes) { lost.insert(run) }
        }
        #expect(lost == Set(cluster.nodes.map(\.run)))

        cluster.nodes[1].join("dot", request: 6)
        cluster.nodes[0].submit(.signal(.server, SignalRequest()), in: other, request: 7)
        cluster.settle()
        #expect(cluster.nodes[1].outcomes.last == "6: unavailable")
        #expect(cluster.nodes[0].outcomes.last == "7: signalled 2", "other sessions go on")
    }

    // MARK: - The end of a session

    @Test("LOG-10: a client that joins on one node while another ends the session begins a new order")
    func endAgainstJoin() {
        let cluster = Cluster(nodeCount: 2, bounds: .init(resumeWindow: .zero, recoveryWindow: .zero))
        cluster.nodes[0].join("ada")
        cluster.settle()
        cluster.nodes[1].submit(.signal(.server, SignalRequest()), request: 5)
        cluster.settle()
        cluster.nodes[0].leave("ada")
        cluster.nodes[0].engine.advance(to: cluster.now)
        cluster.nodes[0].log.send()
        cluster.nodes[0].log.receive()
        // The end is in the log before the join of the other node, which does not know it.
        cluster.nodes[0].engine.advance(to: cluster.now)
        cluster.nodes[0].log.send(1)
        cluster.nodes[1].join("bob", request: 2)
        cluster.nodes[1].engine.advance(to: cluster.now)
        cluster.nodes[1].log.send()
        cluster.settle()
        #expect(cluster.nodes[1].outcomes.last == "2: joined bob at 1")
        #expect(cluster.nodes[1].connections == ["bob"])
        #expect(cluster.disagreement() == nil)
    }

    @Test("a join that must be repeated is given up if its client has gone meanwhile")
    func joinOfAGoneClient() {
        let cluster = Cluster(nodeCount: 2, bounds: .init(resumeWindow: .zero, recoveryWindow: .zero))
        cluster.nodes[0].join("ada")
        cluster.settle()
        cluster.nodes[1].submit(.signal(.server, SignalRequest()), request: 5)
        cluster.settle()
        cluster.nodes[0].leave("ada")
        for _ in 0..<2 {
            cluster.nodes[0].engine.advance(to: cluster.now)
            cluster.nodes[0].log.send()
            cluster.nodes[0].log.receive()
        }
        cluster.nodes[1].join("bob", request: 2)
        cluster.nodes[1].leave("bob")
        cluster.settle()
        #expect(cluster.nodes.allSatisfy { $0.engine.sessionCount == 0 })
        #expect(cluster.store.keptSessions.isEmpty)
    }

    @Test("LOG-10: when the last client has left, every node forgets the session, and so does the log")
    func end() {
        let cluster = Cluster(nodeCount: 3, bounds: .init(recoveryWindow: .zero))
        for (index, name) in ["ada", "bob", "cem"].enumerated() {
            cluster.nodes[index].join(name)
            cluster.settle()
        }
        for (index, name) in ["ada", "bob", "cem"].enumerated() { cluster.nodes[index].leave(name) }
        cluster.settle()
        #expect(cluster.store.keptSessions.isEmpty)
        #expect(cluster.nodes.allSatisfy { $0.engine.sessionCount == 0 && $0.log.followed.isEmpty })
    }

    // MARK: - The keeper

    @Test("LOG-11: the keeper alone reports presence, and a new keeper reports what was not told")
    func keptPresence() {
        let cluster = Cluster(nodeCount: 2, bounds: untoldBounds())
        cluster.nodes[0].join("ada")
        cluster.settle()
        cluster.nodes[0].engine.noteTold(cluster.nodes[0].kept.last!, of: room)
        cluster.settle()
        cluster.nodes[1].join("bob", request: 2)
        cluster.settle()
        let bob = "4.0 connectionCreated bob"
        #expect(cluster.nodes[0].presence == ["2.0 sessionCreated", "2.1 connectionCreated ada", bob])
        #expect(cluster.nodes[1].presence.isEmpty)
        cluster.nodes[0].log.die()
        cluster.store.declareLost(cluster.nodes[0].log)
        cluster.settle()
        #expect(cluster.nodes[1].isKeeper)
        #expect(cluster.nodes[1].presence == [bob])
        cluster.pass(.seconds(61))
        #expect(cluster.nodes[1].presence.last?.hasSuffix("connectionDestroyed ada networkDisconnected") == true)
        #expect(cluster.nodes[1].connections == ["bob"])
    }

    @Test("another node appends what is due one second late if the keeper hangs")
    func hangingKeeper() {
        let cluster = Cluster(nodeCount: 2)
        cluster.nodes[0].join("ada")
        cluster.settle()
        for name in ["bob", "cem"] { cluster.nodes[1].join(name, request: 2) }
        cluster.settle()
        cluster.nodes[1].detach("bob")
        cluster.settle()
        cluster.nodes[0].isFrozen = true
        cluster.pass(.seconds(60.9), step: .milliseconds(100))
        #expect(cluster.nodes[1].connections == ["ada", "bob", "cem"])
        cluster.pass(.milliseconds(200), step: .milliseconds(100))
        #expect(cluster.nodes[1].connections == ["ada", "cem"])
        cluster.nodes[0].isFrozen = false
        cluster.settle()
        #expect(cluster.disagreement() == nil)
    }

    @Test("LOG-13: a node that stops tells the others of its sockets at once, and another becomes the keeper")
    func cleanStop() {
        let cluster = Cluster(nodeCount: 2, bounds: untoldBounds())
        cluster.nodes[0].join("ada")
        cluster.settle()
        cluster.nodes[1].join("bob", request: 2)
        cluster.settle()
        cluster.nodes[0].engine.endSessions()
        cluster.nodes[0].engine.advance(to: cluster.now)
        cluster.nodes[0].log.stop()
        cluster.settle()
        #expect(cluster.nodes[1].isKeeper)
        #expect(cluster.nodes[1].presence.count == 3, "the old keeper had not told any")
        cluster.nodes[1].resume("ada", after: 1, request: 3)
        cluster.settle()
        #expect(cluster.nodes[1].outcomes.last == "3: joined ada at 1 resumed through 2")
    }

    @Test("a node that stops appends nothing after it has left the session")
    func nothingAfterTheStop() {
        let cluster = Cluster(nodeCount: 2, bounds: .init(resumeWindow: .seconds(1)))
        cluster.nodes[0].join("ada")
        cluster.settle()
        cluster.nodes[1].join("bob", request: 2)
        cluster.settle()
        cluster.nodes[0].detach("ada")
        cluster.settle()
        cluster.now = .seconds(5)
        cluster.nodes[0].engine.endSessions()
        cluster.nodes[0].engine.advance(to: cluster.now)
        cluster.nodes[0].log.send()
        cluster.nodes[0].log.receive()
        cluster.nodes[0].engine.advance(to: cluster.now)
        cluster.nodes[0].log.stop()
        cluster.pass(.seconds(2))
        #expect(cluster.nodes[1].isKeeper)
        #expect(cluster.nodes[1].connections == ["bob"])
    }

    @Test("LOG-9: only the keeper keeps snapshots, and a node opens the session from them")
    func snapshots() {
        let cluster = Cluster(nodeCount: 2)
        cluster.store.trimsAtOnce = true
        cluster.nodes[0].join("ada")
        cluster.settle()
        cluster.nodes[1].join("bob", request: 2)
        for number in 3..<1_500 {
            cluster.nodes[number % 2].signal(number % 2 == 0 ? "ada" : "bob", number)
            if number % 100 == 0 { cluster.settle() }
        }
        cluster.settle()
        #expect(cluster.disagreement() == nil)
        let late = cluster.addNode()
        late.join("cem", request: 1)
        cluster.settle()
        #expect(late.outcomes == ["1: joined cem at 1500"])
        #expect(cluster.disagreement() == nil)
    }

    @Test("LOG-6: limits are changed by the keeper, once")
    func limits() {
        let cluster = Cluster(nodeCount: 2)
        cluster.nodes[0].join("ada")
        cluster.settle()
        cluster.nodes[1].join("bob", request: 2)
        cluster.settle()
        let number = cluster.store.lastNumber(of: room)
        for node in cluster.nodes { node.engine.changeLimits(to: .init(connectionCount: 2), .none, now: cluster.now) }
        cluster.settle()
        #expect(cluster.store.lastNumber(of: room) == number + 1)
        cluster.nodes[1].join("cem", request: 3)
        cluster.settle()
        #expect(cluster.nodes[1].outcomes.last == "3: refused 1027 OT_CONNECTION_LIMIT_EXCEEDED")
    }

    // MARK: - Lost nodes

    @Test("LOG-32: the connections of a dead node lose their sockets when it was last alive")
    func death() {
        let cluster = Cluster(nodeCount: 2)
        cluster.nodes[0].join("ada")
        cluster.settle()
        cluster.nodes[1].join("bob", request: 2)
        cluster.settle()
        cluster.now = .seconds(20)
        cluster.nodes[1].log.die()
        cluster.now = .seconds(35)
        cluster.store.declareLost(cluster.nodes[1].log, lastAlive: .seconds(20))
        cluster.settle()
        #expect(cluster.nodes[0].connections == ["ada", "bob"])
        cluster.pass(.seconds(44.5))
        #expect(cluster.nodes[0].connections == ["ada", "bob"])
        cluster.pass(.seconds(1))
        #expect(cluster.nodes[0].connections == ["ada"])
    }

    @Test("LOG-32: a session whose only node has died is adopted, so that its windows end")
    func adoption() {
        let cluster = Cluster(nodeCount: 3, bounds: untoldBounds())
        cluster.nodes[0].join("ada")
        cluster.settle()
        cluster.nodes[0].log.die()
        cluster.store.declareLost(cluster.nodes[0].log)
        cluster.settle()
        #expect(cluster.nodes.map { $0.hosts() } == [true, true, false])
        #expect(cluster.nodes[1].presence == ["2.0 sessionCreated", "2.1 connectionCreated ada"])
        cluster.pass(.seconds(62))
        for _ in 0..<3 {
            if let event = cluster.nodes[1].kept.last { cluster.nodes[1].engine.noteTold(event, of: room) }
            cluster.settle()
        }
        #expect(cluster.nodes[1].presence.last?.hasSuffix("sessionDestroyed") == true)
        #expect(cluster.store.keptSessions.isEmpty)
    }

    @Test("a client of a lost node that is in the log behind the news of the loss loses its socket, too")
    func joinBehindTheLoss() {
        let cluster = Cluster(nodeCount: 2)
        cluster.nodes[0].join("ada")
        cluster.settle()
        cluster.nodes[1].submit(.signal(.server, SignalRequest()), request: 5)
        cluster.settle()
        cluster.nodes[1].join("bob", request: 2)
        cluster.nodes[1].engine.advance(to: cluster.now)
        cluster.nodes[1].log.die(sending: .max)
        cluster.store.declareLost(cluster.nodes[1].log)
        cluster.nodes[0].log.loseNotifications()
        cluster.settle()
        #expect(cluster.nodes[0].connections == ["ada"])
        cluster.nodes[0].log.check()
        cluster.settle()
        #expect(cluster.nodes[0].connections == ["ada", "bob"])
        #expect(cluster.nodes[0].engine.sessions[room]?.state?.hasConnection(on: cluster.nodes[1].run) == false)
        cluster.pass(.seconds(61))
        #expect(cluster.nodes[0].connections == ["ada"])
    }

    @Test(
        "LOG-32: a node that was declared lost goes on as another, and its clients come back", arguments: [true, false])
    func continues(readsOfIt: Bool) {
        let cluster = Cluster(nodeCount: 2)
        let node = cluster.nodes[1]
        cluster.nodes[0].join("ada")
        cluster.settle()
        node.join("bob", request: 2)
        cluster.settle()
        node.isFrozen = true
        cluster.store.declareLost(node.log)
        cluster.settle()
        let run = node.run
        node.isFrozen = false
        if !readsOfIt { node.log.loseNotifications() }
        node.signal("bob", 3)
        cluster.settle()
        #expect(node.lost == [room])
        #expect(node.lastSeqsAtLoss == [Seq(2)], "SIG-6: what was acknowledged goes out before the sockets close")
        #expect(node.outcomes.last == "3: unavailable\(readsOfIt ? "" : ", may be carried out")")
        #expect(node.lastSeq == nil)
        node.resume("bob", after: 2, request: 4)
        cluster.settle()
        #expect(node.outcomes.last == "4: joined bob at 2 resumed through 2")
        #expect(node.run != run)
        #expect(cluster.disagreement() == nil)
    }

    @Test(
        "LOG-32, RES-3: a node that reads of its own loss gives its clients no event behind it, so that they can resume"
    )
    func eventsBehindTheOwnLoss() {
        let cluster = Cluster(nodeCount: 2)
        let node = cluster.nodes[1]
        cluster.nodes[0].join("ada")
        cluster.settle()
        node.join("bob", request: 2)
        cluster.settle()
        node.isFrozen = true
        cluster.store.declareLost(node.log)
        cluster.settle()
        cluster.nodes[0].signal("ada", 3)
        cluster.settle()
        // What comes from the log is there before the answer that says it to the node.
        node.log.receive()
        #expect(node.lost == [room])
        #expect(node.lastSeqsAtLoss == [Seq(2)])
        cluster.nodes[0].resume("bob", after: 2, request: 4)
        cluster.settle()
        #expect(cluster.nodes[0].outcomes.last == "4: joined bob at 2 resumed through 3")
    }

    // MARK: - Drops

    @Test("LOG-33: a node that must jump over a gap loses its sockets, and opens the session again")
    func gap() {
        let cluster = Cluster(nodeCount: 2)
        let node = cluster.nodes[1]
        cluster.nodes[0].join("ada")
        cluster.settle()
        node.join("bob", request: 2)
        cluster.settle()
        node.signal("bob", 3)
        node.engine.advance(to: cluster.now)
        node.log.drop(room)
        cluster.settle()
        #expect(node.lost == [room])
        #expect(node.lastSeqsAtLoss == [Seq(2)], "SIG-6: what was acknowledged goes out before the sockets close")
        #expect(node.outcomes.last == "3: unavailable, may be carried out")
        #expect(node.hosts(), "bob's socket is gone, and the session must learn it")
        #expect(cluster.nodes[0].engine.sessions[room]?.state?.hasConnection(on: node.run) == false)
        node.resume("bob", after: 2, request: 4)
        cluster.settle()
        #expect(node.outcomes.last?.hasPrefix("4: joined bob at 2 resumed") == true)
        #expect(cluster.disagreement() == nil)
    }

    @Test("a keeper that drops the session stays its keeper")
    func gapOfTheKeeper() {
        let cluster = Cluster(nodeCount: 2, bounds: untoldBounds())
        cluster.nodes[0].join("ada")
        cluster.settle()
        cluster.nodes[0].log.drop(room)
        cluster.settle()
        #expect(cluster.nodes[0].isKeeper)
        cluster.pass(.seconds(61))
        #expect(cluster.nodes[0].presence.last?.hasSuffix("sessionDestroyed") == true)
    }

    @Test("LOG-12: when the order was lost, the clients come back to a new epoch, and are told")
    func orderLost() {
        let cluster = Cluster(nodeCount: 2)
        cluster.nodes[0].join("ada")
        cluster.settle()
        cluster.nodes[1].join("bob", request: 2)
        cluster.settle()
        cluster.store.forget(room)
        cluster.settle()
        #expect(cluster.nodes.map(\.lost) == [[room], [room]])
        #expect(cluster.nodes.map(\.lastSeqsAtLoss) == [[Seq(2)], [Seq(2)]])
        #expect(cluster.nodes.allSatisfy { !$0.hosts() })
        cluster.nodes[1].resume("bob", after: 2, request: 3)
        cluster.nodes[0].resume("ada", after: 2, request: 4)
        cluster.settle()
        let outcomes = cluster.nodes.map { $0.outcomes.last ?? "" }
        #expect(outcomes.allSatisfy { $0.contains("lost") }, "\(outcomes)")
        #expect(cluster.disagreement() == nil)
    }

    @Test("LOG-35: a command that was not sent is known not to be carried out")
    func unsent() {
        let cluster = Cluster(nodeCount: 1)
        let node = cluster.nodes[0]
        node.join("ada")
        cluster.settle()
        node.signal("ada", 2)
        node.engine.advance(to: cluster.now)
        node.signal("ada", 3)
        node.signal("ada", 4, isOnlineOnly: true)
        node.log.drop(room)
        node.log.receive()
        #expect(
            node.outcomes.dropFirst() == ["2: unavailable, may be carried out", "3: unavailable", "4: unavailable"])
        cluster.settle()
        #expect(node.lastSeq == 1)
    }

    // MARK: - Online-only signals

    @Test("SIG-10, LOG-8: an online-only signal reaches the clients of every node, behind the events before it")
    func relay() {
        let cluster = Cluster(nodeCount: 2)
        cluster.nodes[0].join("ada")
        cluster.settle()
        cluster.nodes[1].join("bob", request: 2)
        cluster.settle()
        cluster.nodes[0].signal("ada", 3)
        cluster.nodes[0].signal("ada", 4, isOnlineOnly: true)
        cluster.settle()
        #expect(cluster.nodes[0].onlineOnly.count == 1)
        #expect(cluster.nodes[1].onlineOnly == cluster.nodes[0].onlineOnly)
        #expect(cluster.nodes[0].onlineOnly[0].hasPrefix("online-only after 3:"))
        #expect(cluster.disagreement() == nil, "the allowance is not part of the state")
    }

    @Test("SIG-10, LOG-8, G6: a node that is behind holds a signal for 1 s, and none passes a later one of its sender")
    func heldRelay() {
        let cluster = Cluster(nodeCount: 2)
        cluster.nodes[0].join("ada")
        cluster.settle()
        cluster.nodes[1].join("bob", request: 2)
        cluster.settle()
        let node = cluster.nodes[1]
        /// As ada's node relays it when it has carried out the entry with this number, and has events up to `seq`.
        func relay(after seq: Int64, number: UInt64, by run: RunID? = nil) {
            let line = EncodedLine(
                SignalEvent(seq: nil, from: client("ada"), type: "t", data: nil, to: nil),
                encodedSender: EncodedLine.encode(node.engine.connections(of: room)[0]))
            let signal = OnlineOnlySignal(
                after: Seq(seq), from: client("ada"), type: "t", audience: .everyone, line: line)
            let relayed = RelayedSignal(
                epoch: Epoch("epoch 1"), node: run ?? cluster.nodes[0].run, number: number, signal: signal)
            node.engine.log(relayed: relayed.encoded(), of: room)
        }
        let joined = cluster.store.lastNumber(of: room)
        relay(after: 3, number: joined + 1)
        #expect(node.onlineOnly.isEmpty)
        cluster.nodes[0].signal("ada", 3)
        cluster.settle()
        #expect(node.onlineOnly.count == 1)
        relay(after: 2, number: joined)
        #expect(node.onlineOnly.count == 1, "ada has sent signal 3 since then")
        relay(after: 3, number: joined + 1, by: node.run)
        #expect(node.onlineOnly.count == 1, "ada is on another node")
        relay(after: 3, number: joined - 1)
        #expect(node.onlineOnly.count == 1, "bob has joined since then")
        relay(after: 3, number: joined + 1)
        #expect(node.onlineOnly.count == 2)
        relay(after: 4, number: joined + 2)
        cluster.pass(.seconds(2))
        cluster.nodes[0].signal("ada", 4)
        cluster.settle()
        #expect(node.onlineOnly.count == 2, "it has waited too long")
        node.engine.log(relayed: [1, 2, 3], of: room)
        node.engine.log(relayed: [], of: room)
    }

    @Test(
        "MOD-2: the end of a restriction that people read is the one that holds, also if Redis has kept the action waiting"
    )
    func waitingAction() throws {
        let cluster = Cluster(nodeCount: 2)
        let (a, b) = (cluster.nodes[0], cluster.nodes[1])
        let join = JoinRequest(connectionId: client("c1"), role: .publisher, data: "", wallTime: .init(milliseconds: 5))
        a.submit(.join(join), request: 1)
        cluster.settle()
        cluster.now = .seconds(10)
        cluster.settle()
        let freeze = ModerationRequest.freeze(ModerationRequest.Terms(seconds: 3))
        b.submit(.moderate(.server, freeze, Acceptance(date: WallTime(milliseconds: 1_000_000))))
        cluster.now = .seconds(14)
        cluster.settle()
        for node in cluster.nodes {
            let state = try #require(node.engine.sessions[room]?.state)
            #expect(
                state.moderationReport(at: .seconds(14))?.restrictions.map(\.restriction.until)
                    == [WallTime(milliseconds: 1_007_000)])
            let end = node.log.time(at: .seconds(17))
            #expect(state.moderationReport(at: end)?.restrictions.isEmpty == true)
        }
    }

    @Test("M1, MOD-4: a node drops a relayed signal of a sender that it knows to be muted, or not to be a moderator")
    func silencedRelay() {
        let cluster = Cluster(nodeCount: 2)
        let (a, b) = (cluster.nodes[0], cluster.nodes[1])
        for (index, node, role) in [(1, a, Role.publisher), (2, a, .moderator), (3, b, .publisher)] {
            let join = JoinRequest(
                connectionId: client("c\(index)"), role: role, data: "", user: UserID("u\(index)"),
                wallTime: WallTime(milliseconds: 5))
            node.submit(.join(join), request: index)
            cluster.settle()
        }
        func moderate(_ request: ModerationRequest) {
            b.submit(.moderate(.server, request, Acceptance(date: WallTime(milliseconds: 5))))
            cluster.settle()
        }
        /// As the first node relays it when it has not carried out what the second one has.
        func relay(_ name: String) -> Bool {
            b.forget()
            let line = EncodedLine(
                SignalEvent(seq: nil, from: client(name), type: "t", data: nil, to: nil), encodedSender: nil)
            let signal = OnlineOnlySignal(
                after: Seq(b.lastSeq ?? 0), from: client(name), type: "t", audience: .everyone, line: line)
            let relayed = RelayedSignal(
                epoch: Epoch("epoch 1"), node: a.run, number: cluster.store.lastNumber(of: room), signal: signal)
            b.engine.log(relayed: relayed.encoded(), of: room)
            return !b.onlineOnly.isEmpty
        }
        #expect(relay("c1") && relay("c2"))
        moderate(.mute(.user("u1"), ModerationRequest.Terms(seconds: 60)))
        #expect(!relay("c1") && relay("c2"))
        moderate(.freeze())
        moderate(.unmute(.user("u1")))
        #expect(!relay("c1") && relay("c2"), "a freeze exempts moderators")
        moderate(.unfreeze)
        #expect(relay("c1"))
        moderate(.mute(.user("u1"), ModerationRequest.Terms(seconds: 60)))
        cluster.pass(.seconds(61))
        #expect(relay("c1"), "the mute has ended")
    }

    @Test("M1, MOD-8: an action has one place in the order of all nodes, and ends connections of each of them")
    func banOnAllNodes() {
        let cluster = Cluster(nodeCount: 2)
        let (a, b) = (cluster.nodes[0], cluster.nodes[1])
        for (index, node) in [(1, a), (2, b), (3, b)] {
            let join = JoinRequest(
                connectionId: client("c\(index)"), role: .moderator, data: "", user: index == 3 ? "m" : "u",
                wallTime: WallTime(milliseconds: 5))
            node.submit(.join(join), request: index)
            cluster.settle()
        }
        for node in cluster.nodes { node.forget() }
        let sender = CommandSender.connection(SocketBinding("c3"), RequestID(9))
        b.submit(.moderate(sender, .ban(.user("u")), Acceptance(date: WallTime(milliseconds: 5))), request: 9)
        let again = JoinRequest(
            connectionId: client("c4"), role: .publisher, data: "", user: "u", wallTime: WallTime(milliseconds: 5))
        b.submit(.join(again), request: 10)
        cluster.settle()
        #expect(b.outcomes == ["9: moderated 4 user u", "10: refused 1570 OT_USER_BANNED"])
        #expect(a.ended.contains("ended c1 forceDisconnected because of a ban"))
        #expect(b.ended.contains("ended c2 forceDisconnected because of a ban"))
        a.submit(.join(again), request: 11)
        cluster.settle()
        #expect(a.outcomes == ["11: refused 1570 OT_USER_BANNED"] && cluster.disagreement() == nil)
        // The session sleeps with its last client, on no node, and the other node still refuses the user.
        b.leave("c3")
        cluster.pass(.seconds(700))
        #expect(!a.hosts() && !b.hosts() && cluster.store.sleepingSessions == [room])
        a.submit(.join(again), request: 12)
        cluster.settle()
        #expect(a.outcomes.last == "12: refused 1570 OT_USER_BANNED")
        cluster.pass(.seconds(11))
        #expect(!a.hosts() && cluster.store.sleepingSessions == [room])
        var reading: ModerationReading?
        b.engine.readModeration(of: room, now: cluster.now) { reading = $0 }
        cluster.settle()
        guard case .report(let report)? = reading else {
            Issue.record("\(String(describing: reading))")
            return
        }
        #expect(report.restrictions.map(\.testDescription) == ["4 ban user u"] && report.actions.map(\.seq) == [Seq(4)])
        #expect(cluster.store.sleepingSessions == [room], "a read does not wake it")
    }
}
