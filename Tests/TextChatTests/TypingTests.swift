import Foundation
import SignalingProtocol
import TestSupport
import Testing
import TextChat
import TextChatFoundation

@Suite("TYP: typing beside the vectors")
struct TypingTests {
    private let start = MonotonicInstant(nanoseconds: 0)
    private func after(_ milliseconds: Int64) -> MonotonicInstant { MonotonicInstant(milliseconds: milliseconds) }
    private func begin(_ id: String, n: Int64? = 1, user: String? = nil) -> TypingInput {
        .signal(TypingSignal(.begin, n: n), from: ConnectionID(id), user: user)
    }

    @Test("every preset passes the strict checks")
    func presets() throws {
        for policy in [TypingPolicy.standard, .layer, .layerWeb, .easemob] {
            #expect(try TypingPolicy(policy.settings, isStrict: true) == policy)
        }
    }

    @Test("Layer's older names are the same actions")
    func olderNames() {
        #expect([TypingAction.didBegin, .didPause, .didFinish].map(\.rawValue) == [0, 1, 2])
        #expect(TypingAction.allCases.map(\.rawValue) == [0, 1, 2])
    }

    @Test("ten thousand people who type are counted, fifty are named, and more are not followed")
    func many() {
        var roster = TypingRoster()
        for number in 0..<TypingRoster.connectionLimit + 500 { _ = roster.handle(begin("c\(number)"), now: start) }
        #expect(roster.current.typingCount == TypingRoster.connectionLimit)
        #expect(roster.current.typing.count == 50)
        _ = roster.handle(.connectionDestroyed(ConnectionID("c0")), now: after(1))
        #expect(roster.current.typing.first?.connectionId == ConnectionID("c1"))
        #expect(roster.advance(to: after(10_000)) == nil, "they linger")
        #expect(roster.advance(to: after(11_500)) == .nobody)
        #expect(roster.nextDeadline == nil)
    }

    @Test("remembered numbers make room for people who type")
    func remembered() {
        var roster = TypingRoster()
        for number in 0..<TypingRoster.connectionLimit {
            _ = roster.handle(.messageReceived(from: ConnectionID("c\(number)"), typingN: 1), now: start)
        }
        #expect(roster.handle(begin("new", user: "Ada"), now: after(1))?.typingCount == 1)
    }

    @Test("two rosters with the same inputs show the same")
    func twoSubscribers() {
        var rosters = [TypingRoster(), TypingRoster()]
        let inputs = [
            begin("x", user: "Ada"), begin("y", user: "Bob"), .messageReceived(from: ConnectionID("x"), typingN: 1),
        ]
        for input in inputs {
            let changes = rosters.indices.map { rosters[$0].handle(input, now: start) }
            #expect(changes[0] == changes[1] && changes[0] == rosters[0].current)
        }
    }

    @Test("two rooms do not affect each other")
    func twoRooms() {
        let me = ConnectionID("me")
        var (old, next) = (TypingIndicator(connection: me), TypingIndicator(connection: me))
        #expect(old.handle(.draftEdited("a"), now: start).count == 1)
        #expect(old.handle(.leave, now: after(2000)) == [.send(TypingSignal(.finish, n: 2).request(.actions), n: 2)])
        #expect(next.advance(to: after(2000)).isEmpty)
    }

    @Test("TYP-3: a new sender of a connection continues its numbers")
    func takingOver() {
        var sender = TypingSender(startingAfter: 41)
        #expect(sender.handle(.send(.begin), now: start) == [TypingSignal(.begin, n: 42)])
        #expect(sender.lastN == 42)
    }

    @Test("nothing traps at the limits of the clock")
    func endsOfTime() {
        for moment in [Int64.min, .max] {
            var engine = TypingIndicator(connection: ConnectionID("me"))
            let now = MonotonicInstant(nanoseconds: moment)
            _ = engine.handle(.draftEdited("a"), now: now)
            _ = engine.handle(.signal(TypingSignal(.begin), from: ConnectionID("x"), user: "Ada"), now: now)
            _ = engine.handle(.messageSubmitted, now: now)
            _ = engine.handle(.draftEdited("b"), now: now)
            _ = engine.advance(to: MonotonicInstant(nanoseconds: .max))
        }
    }

    @Test("a moment before the last one neither traps nor silences the sender")
    func backwards() {
        var sender = TypingSender()
        #expect(sender.handle(.send(.begin), now: after(3_600_000)).count == 1)
        #expect(sender.handle(.messageSubmitted, now: start).isEmpty)
        #expect(sender.handle(.send(.begin), now: after(3_601_000)).count == 1)
    }

    @Test("other programs' bytes never trap")
    func garbage() {
        var random = SeededGenerator(seed: 7)
        let pieces = [
            #"{"action":"#, #""begin""#, ",", #""n":"#, "1e300", "-1e999", "null", "}", "{", "[", "\0",
            "9999999999999999999", #""\ud800""#,
        ]
        var engine = TypingIndicator(connection: ConnectionID("me"))
        for number in 0..<3000 {
            let count = Int.random(in: 0..<9, using: &random)
            let data = (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            guard let typing = TypingSignal(Signal(type: "typing", data: data)) else { continue }
            _ = engine.handle(
                .signal(typing, from: ConnectionID("x"), user: nil), now: after(Int64(number)))
        }
    }

    @Test("the phrase of a snapshot counts people without a name")
    func phraseOfSnapshot() {
        var roster = TypingRoster()
        _ = roster.handle(begin("x", user: "Ada"), now: start)
        _ = roster.handle(begin("y"), now: start)
        #expect(TypingPhrase(of: roster.current).text() == "Ada and 1 other are typing…")
    }

    @Test("every language has every sentence")
    func templates() {
        for templates in [TypingPhraseTemplates.english, .simplifiedChinese] {
            for key in TypingPhrase.Key.allCases {
                #expect(templates[key].isEmpty == (key == .nobody), "\(key)")
            }
        }
        #expect(TypingPhraseTemplates.matching("zh") == .simplifiedChinese)
        #expect(TypingPhraseTemplates.matching("zh_CN") == .simplifiedChinese)
        #expect(TypingPhraseTemplates.matching("zhx") == .english)
        #expect(TypingPhraseTemplates.matching("en-GB") == .english)
    }

    @Test("Layer's notifications name the user, else the connection, once per change, never the same state twice")
    func notifications() {
        final class Room {}
        let (room, center) = (Room(), NotificationCenter())
        nonisolated(unsafe) var heard: [String] = []  // Posted on this thread only.
        let observer = center.addObserver(forName: TypingNotification.name, object: room, queue: nil) { notification in
            guard let typing = TypingNotification(notification) else { return }
            heard.append("\(typing.participant) \(typing.action.rawValue)")
            heard.append(notification.userInfo?[TypingNotification.participantKey] as? String ?? "nobody")
        }
        defer { center.removeObserver(observer) }

        nonisolated(unsafe) let notifier = TypingNotifier(room: room, center: center)  // Used on this thread only.
        let ada = TypingSnapshot.Typer(name: "Ada", connectionId: ConnectionID("x"), user: UserID("u-17"))
        let other = TypingSnapshot.Typer(name: "Bob", connectionId: ConnectionID("y"))
        notifier.post(TypingSnapshot(typing: [ada]))
        notifier.post(TypingSnapshot(typing: [ada, other]))
        notifier.post(TypingSnapshot(typing: [other], paused: [ada]))
        notifier.post(TypingSnapshot(typing: [other], paused: [ada]))
        notifier.post(.nobody)
        #expect(
            heard == [
                "u-17 0", "u-17", "y 0", "y", "u-17 1", "u-17", "y 2", "y", "u-17 2", "u-17",
            ])
        // An observer that reports the next snapshot, in which only Ada types.
        heard = []
        let echo = center.addObserver(forName: TypingNotification.name, object: room, queue: nil) { _ in
            notifier.post(TypingSnapshot(typing: [ada]))
        }
        defer { center.removeObserver(echo) }
        notifier.post(TypingSnapshot(typing: [other, ada]))
        #expect(
            heard.enumerated().compactMap { $0.offset.isMultiple(of: 2) ? $0.element : nil } == [
                "y 0", "u-17 0", "y 2",
            ])
        #expect(TypingNotification(Notification(name: Notification.Name("another"))) == nil)
        #expect(TypingNotification(Notification(name: TypingNotification.name)) == nil)
    }
}
