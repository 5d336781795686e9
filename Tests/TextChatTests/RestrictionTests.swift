import SignalingProtocol
import Testing
import TextChat
import TextChatFoundation
import TextChatTesting

@Suite("A chat whose user may not write", .timeLimit(.minutes(5)))
@MainActor
struct RestrictionTests {
    private static let mute = Restriction(.mute, reason: "Please stay on topic")

    /// A mute that ends a minute after the clock of ``Chatting``.
    private static func brief(_ it: Chatting) -> Restriction {
        Restriction(.mute, until: WallTime(milliseconds: it.clock.now.milliseconds + 60_000))
    }

    @Test("MOD-5: a muted user's draft stays and cannot be sent, until the mute is lifted")
    func lifted() async {
        let it = Chatting()
        var told: [Restriction?] = []
        it.chat.onActivity = { if $0 == .restrictionChanged { told.append(it.chat.restriction) } }
        #expect(it.chat.edit("hello").isAccepted)
        it.channel.restrict(Self.mute)
        it.hear()
        #expect(it.chat.restriction == Self.mute)
        #expect(!it.chat.canSend)
        #expect(it.chat.refusal() == .restricted(Self.mute))
        #expect(it.chat.enqueue(now: it.clock.now, localID: LocalID("1")) == .restricted(Self.mute))
        #expect(it.chat.draft == "hello")
        #expect(it.chat.messages.isEmpty)
        it.channel.lift(.mute)
        it.hear()
        #expect(it.chat.canSend)
        #expect(it.chat.enqueue(now: it.clock.now, localID: LocalID("1")) == nil)
        #expect(told == [Self.mute, nil])
    }

    @Test("MOD-2: a mute ends at its moment without an event: sending finds it out, and so does the timer's call")
    func ends() {
        let it = Chatting()
        let mute = Self.brief(it)
        it.channel.restrict(mute)
        it.hear()
        let now = it.clock.now
        #expect(it.chat.nextRestrictionCheck(after: now) == mute.until)
        it.chat.advance(to: WallTime(milliseconds: now.milliseconds + 59_999))
        #expect(it.chat.restriction == mute)
        it.chat.advance(to: WallTime(milliseconds: now.milliseconds + 60_000))
        #expect(it.chat.restriction == nil)
        #expect(it.chat.nextRestrictionCheck(after: now) == nil)
    }

    @Test("MOD-4: a refused message says which restriction has refused it")
    func refused() async {
        let it = Chatting()
        it.channel.holdAnswers()
        async let result = it.send("hi")
        try? await it.channel.waitUntilSent(1)
        it.channel.restrict(Self.mute)
        it.channel.releaseAllAnswers()
        #expect(await result == .sent, "it was on its way")
        #expect(it.chat.edit("ho").isAccepted)
        #expect(it.chat.enqueue(now: it.clock.now, localID: LocalID("2")) == .restricted(Self.mute))
        await #expect(throws: SignalingError(.permissionDenied, "")) {
            try await it.channel.send(SignalRequest(type: "x"))
        }
    }

    @Test("MOD-5: a muted user sends no typing, and sees that of others; afterwards the next key begins anew")
    func typing() async throws {
        let it = Chatting()
        var now = MonotonicInstant(nanoseconds: 0)
        it.chat.typing.start { now }
        it.chat.edit("h")
        #expect(it.chat.typing.dequeueSignal() != nil)
        it.channel.restrict(Self.mute)
        it.hear()
        for text in ["he", "", "hel"] {
            now = now.advanced(by: .seconds(5))
            it.chat.edit(text)
            #expect(it.chat.typing.dequeueSignal() == nil)
        }
        try await it.other.send(TypingSignal(.begin, n: 1).request(.actions))
        it.hear()
        #expect(it.chat.typing.current.typingCount == 1)
        it.channel.lift(.mute)
        it.hear()
        #expect(it.chat.typing.dequeueSignal() == nil)
        now = now.advanced(by: .seconds(5))
        it.chat.edit("hell")
        #expect(it.chat.typing.dequeueSignal() != nil)
    }

    @Test("MOD-5: what holds at the connect counts, and what held on a connection that has ended does not")
    func connections() {
        let it = Chatting()
        it.channel.restrict(Self.mute)
        let again = it.session.connect("again")
        again.restrict(Restriction(.freeze))
        it.hear()
        #expect(it.chat.restriction == Self.mute)
        it.chat.channel = again
        for event in again.removeEvents() { it.chat.handle(event, now: it.clock.now) }
        #expect(it.chat.restriction == Restriction(.freeze))
        again.disconnect()
        for event in again.removeEvents() { it.chat.handle(event, now: it.clock.now) }
        it.chat.advance(to: it.clock.now)
        #expect(it.chat.restriction == nil)
    }

    @Test("MOD-2: with runTyping a restriction ends by itself, on the machine's clock")
    func timer() async throws {
        let it = Chatting()
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        it.chat.onActivity = { if $0 == .restrictionChanged, it.chat.restriction == nil { end.yield() } }
        it.chat.runTyping()
        it.channel.restrict(Restriction(.mute, until: WallTime(milliseconds: WallTime.now.milliseconds + 50)))
        for event in it.channel.removeEvents() { it.chat.handle(event, now: .now) }
        #expect(it.chat.restriction != nil)
        for await _ in ends { break }
        #expect(it.chat.restriction == nil)
        it.chat.typing.stop()
    }
}
