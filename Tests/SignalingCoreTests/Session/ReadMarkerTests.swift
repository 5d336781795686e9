import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

extension ChangeRoom {
    /// A client reads on, and a second later the log has it.
    @discardableResult
    fileprivate mutating func read(_ seq: Seq, _ name: String) -> SessionOutcome {
        let outcome = session.handleUnlogged(
            .read(SocketBinding(client(name), socket1), through: seq), now: now, effects: &effects)
        session.mark(session.takeMarkers(), effects: &effects)
        return outcome ?? .done
    }

    /// The markers that were told, with their audiences.
    fileprivate var told: [String] {
        effects.compactMap { effect in
            guard case .onlineOnly(let signal) = effect, signal.marker != nil else { return nil }
            switch signal.audience {
            case .everyone: return text(signal.line.bytes)
            case .only(let connection): return "\(connection): \(text(signal.line.bytes))"
            }
        }
    }

    fileprivate func state(_ name: String) -> ReadState? { session.readState(for: UserID("u-\(name)")) }
}

@Suite("Read markers")
struct ReadMarkerTests {
    @Test("READ-1: a marker never falls and is not ahead; guests, and sessions without markers, have none")
    func marking() {
        var room = ChangeRoom(readMarkers: .shared, users: ["ada", "bob"])
        let (first, second) = (room.say("1"), room.say("2"))
        #expect(room.state("bob") == ReadState(markers: .shared, unread: 0, readers: []))
        room.read(first, "bob")
        #expect(room.state("bob")?.through == first && room.state("bob")?.unread == 1)
        room.read(.greatest, "bob")
        #expect(room.state("bob")?.through == second && room.state("bob")?.unread == 0)
        room.read(first, "bob")
        #expect(room.state("bob")?.through == second && room.told.count == 2)
        #expect(room.read(first, "guest").refusal == 403)
        var off = ChangeRoom(readMarkers: .off, users: ["ada"])
        #expect(off.read(first, "ada").refusal == 403)
        #expect(off.state("ada") == nil)
        #expect(throws: ClientMessageError.self) { try message(#"{"op":"read","id":1}"#) }
        #expect(throws: ClientMessageError.self) { try message(#"{"op":"read","id":1,"through":-1}"#) }
        #expect(throws: ClientMessageError.self) { try message(#"{"op":"read","id":1,"through":9007199254740993}"#) }
    }

    @Test("LOG-17, READ-2: the markers of a second are one entry, the greatest of each user")
    func waiting() {
        var waiting = WaitingMarkers()
        waiting.note(ReadMarker("u-bob", through: Seq(5)), .seconds(1))
        waiting.note(ReadMarker("u-ada", through: Seq(7)), .seconds(1.5))
        waiting.note(ReadMarker("u-bob", through: Seq(4)), .seconds(1.7))
        #expect(waiting.dueAt == .seconds(2))
        #expect(waiting.take() == [ReadMarker("u-ada", through: Seq(7)), ReadMarker("u-bob", through: Seq(5))])
        #expect(waiting.dueAt == nil)
        #expect(waiting.take().isEmpty)
    }

    @Test("READ-1, LOG-17: of the markers of one user that two nodes append, the greater counts")
    func nodes() {
        var room = ChangeRoom(readMarkers: .shared, users: ["ada", "bob"])
        let (first, second) = (room.say("1"), room.say("2"))
        for seq in [second, first] { room.session.mark([ReadMarker("u-bob", through: seq)], effects: &room.effects) }
        #expect(room.state("bob")?.through == second)
        #expect(room.told.count == 1)
    }

    @Test("READ-2: beyond 1,000 users, the one who has read least is forgotten")
    func most() {
        var markers = SessionMarkers()
        func raise(_ marker: ReadMarker) -> Bool { markers.raise(marker) }
        for number in 1...SessionMarkers.limit {
            #expect(raise(ReadMarker(UserID("u\(number)"), through: Seq(Int64(10 + number)))) == true)
        }
        #expect(raise(ReadMarker("late", through: Seq(1))) == false)
        #expect(markers["late"] == nil)
        #expect(raise(ReadMarker("late", through: Seq(50))) == true)
        #expect(markers["u1"] == nil)
        #expect(markers.count == SessionMarkers.limit && markers.ordered.first?.user == "u1000")
    }

    @Test("READ-3: unread are kept messages of others behind the marker: no edits, reactions, erased or own ones")
    func unread() {
        var room = ChangeRoom([.edit, .erase, .react], readMarkers: .own, users: ["ada", "bob"])
        let first = room.say("1")
        room.read(first, "bob")
        let second = room.say("2")
        _ = room.edit(first, "one")
        _ = room.say("mine", "bob")
        _ = room.say("not kept", type: "typing")
        #expect(room.react(second, ["👍"]).refusal == nil)
        #expect(room.state("bob") == ReadState(markers: .own, through: first, unread: 1))
        _ = room.erase(second)
        #expect(room.state("bob")?.unread == 0)
        for number in 0..<120 { _ = room.say("\(number)") }
        #expect(room.state("bob")?.unread == 100)
        #expect(room.session.readState(for: nil) == nil)
    }

    @Test(
        "READ-4, READ-3: a marker is told to everybody, or to the user's connections, and to nobody in a large session")
    func telling() {
        for (markers, expected) in [
            (ReadMarkers.shared, [#"{"ev":"read","user":"u-bob","through":8}"#]),
            (
                .own,
                [#"bob: {"ev":"read","user":"u-bob","through":8}"#, #"tab: {"ev":"read","user":"u-bob","through":8}"#]
            ),
        ] {
            var room = ChangeRoom(readMarkers: markers, users: ["ada", "bob"])
            room.join("tab", user: "u-bob")
            while room.say("x") < Seq(8) {}
            room.read(Seq(8), "bob")
            #expect(room.told == expected)
            let readers = markers == .own ? nil : [ReadMarker("u-bob", through: Seq(8))]
            #expect(room.state("ada")?.readers == readers)
            for number in 0..<100 { room.join("m\(number)") }
            room.read(room.say("y"), "bob")
            #expect(room.told == expected && room.state("ada")?.readers == nil)
            #expect(room.state("bob")?.unread == 0)
        }
    }

    @Test("READ-2, HIS-9: an erasure of a user's messages takes its marker, and a snapshot keeps the others")
    func erasing() throws {
        var room = ChangeRoom(readMarkers: .shared, users: ["ada", "bob"])
        let seq = room.say("1")
        room.read(seq, "ada")
        room.read(seq, "bob")
        var copy = try SessionState(decoding: room.session.encoded())
        #expect(copy.encoded() == room.session.encoded() && copy.readState(for: "u-ada")?.through == seq)
        copy.eraseMessages(.user("u-ada"), .seconds(2))
        #expect(copy.readState(for: "u-ada")?.through == nil && copy.readState(for: "u-bob")?.through == seq)
        #expect(!text(copy.encoded()).contains("u-ada") || copy.connections.contains { $0.user == "u-ada" })
    }

    @Test("G6: of the markers of one user that wait for delivery, the newest counts")
    func pending() {
        var pending = PendingOnlineOnly()
        for (user, seq) in [("ada", 1), ("bob", 2), ("ada", 3)] as [(UserID, Int64)] {
            let marker = ReadMarker(user, through: Seq(seq))
            pending.append(
                OnlineOnlySignal(
                    after: .zero, from: nil, type: nil, audience: .everyone, line: EncodedLine(.read(marker)),
                    marker: user))
        }
        #expect(
            pending.signals.map { text($0.line.bytes) } == [
                #"{"ev":"read","user":"bob","through":2}"#, #"{"ev":"read","user":"ada","through":3}"#,
            ])
    }
}
