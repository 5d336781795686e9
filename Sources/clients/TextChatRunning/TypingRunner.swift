import SignalingProtocol
import TextChat

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension TextChatComponent {
    /// Runs typing: others see when this user types, and the component learns which other users type. Typing runs until
    /// the component is released, or until `typing.stop()`. Call that before you run typing again.
    ///
    /// Typing signals go through the component's `channel`. Without a channel none is sent. The component also learns in
    /// time that a `restriction` has ended.
    ///
    /// - Parameter isolation: the actor of the component, by default the caller's. It is not kept alive.
    public func runTyping(isolation: isolated any Actor = #isolation) { runTyping(onChange: nil) }

    /// The same. `onChange` gets each state of the others' typing, on the component's actor.
    package func runTyping(onChange: ((TypingSnapshot) -> Void)?, isolation: isolated any Actor = #isolation) {
        let runner = TypingRunner(self, onChange: onChange, actor: isolation)
        let begin = ContinuousClock.now
        typing.start {
            MonotonicInstant(nanoseconds: begin.duration(to: .now).wholeNanoseconds)
        } wake: {
            runner.wake()
        }
    }

    /// Sends the draft with a new random local ID, dated now; see `send(now:localID:isolation:)`.
    public func send(isolation: isolated any Actor = #isolation) async -> SendResult {
        var randomness = SystemRandomNumberGenerator()
        return await send(now: .now, localID: LocalID(using: &randomness))
    }
}

/// Owns the timer of one component's typing and sends its signals: each at once, one after the other, and only once.
/// The component retains it. It is confined to the component's actor, which may own the component.
private final class TypingRunner {
    private weak var chat: TextChatComponent?
    private weak var actor: (any Actor)?
    private let onChange: ((TypingSnapshot) -> Void)?
    private var timer: Task<Void, Never>?
    private var deadline: MonotonicInstant?
    private var restrictionTimer: Task<Void, Never>?
    private var restriction: Restriction?
    private var isSending = false

    init(_ chat: TextChatComponent, onChange: ((TypingSnapshot) -> Void)?, actor: any Actor) {
        self.chat = chat
        self.onChange = onChange
        self.actor = actor
    }

    deinit {
        timer?.cancel()
        restrictionTimer?.cancel()
    }

    func wake() {
        guard let chat, let actor else { return }
        if deadline != chat.typing.nextDeadline { schedule(chat.typing, actor) }
        if restriction != chat.restriction { awaitEnd(of: chat.restriction, actor) }
        enter(actor)
        onChange?(chat.typing.current)
    }

    // MARK: The timer

    /// Unchecked: the runner is used on its actor only.
    private struct Alarm: @unchecked Sendable {
        weak var runner: TypingRunner?

        func ring(_ deadline: MonotonicInstant, on actor: isolated any Actor) { runner?.timerFired(deadline) }

        func ring(on actor: isolated any Actor) { runner?.restrictionChecked(actor) }
    }

    private func schedule(_ typing: ChatTyping, _ actor: any Actor) {
        timer?.cancel()
        deadline = typing.nextDeadline
        guard let deadline else { return }
        let end = ContinuousClock.now.advanced(by: deadline.duration(since: typing.now))
        let alarm = Alarm(runner: self)
        timer = Task { [weak actor] in
            do { try await Task.sleep(until: end, clock: .continuous) } catch { return }
            if let actor { await alarm.ring(deadline, on: actor) }
        }
    }

    private func timerFired(_ deadline: MonotonicInstant) {
        guard self.deadline == deadline, let typing = chat?.typing else { return }
        self.deadline = nil
        typing.advance(to: typing.now)
    }

    // MARK: The end of a restriction

    private func awaitEnd(of restriction: Restriction?, _ actor: any Actor) {
        self.restriction = restriction
        restrictionTimer?.cancel()
        restrictionTimer = nil
        let now = WallTime.now
        guard let check = chat?.nextRestrictionCheck(after: now) else { return }
        // No longer than a day: the clock may be set meanwhile.
        let wait = Duration.milliseconds(min(check.milliseconds - now.milliseconds, 86_400_000))
        let alarm = Alarm(runner: self)
        restrictionTimer = Task { [weak actor] in
            do { try await Task.sleep(for: wait, clock: .continuous) } catch { return }
            if let actor { await alarm.ring(on: actor) }
        }
    }

    private func restrictionChecked(_ actor: any Actor) {
        guard let chat else { return }
        chat.advance(to: .now)
        // The machine's clock differs from the server's: the channel knows better.
        if let restriction, restriction == chat.restriction { awaitEnd(of: restriction, actor) }
    }

    // MARK: Signals

    /// The caller is on the component's actor already, but cannot name it.
    private func enter(_ actor: some Actor) {
        nonisolated(unsafe) let runner = self
        actor.assumeIsolated { actor in runner.publish(on: actor) }
    }

    /// While a signal is in flight, the next one waits, and a newer one replaces it. So signals never overtake each
    /// other.
    private func publish(on isolation: isolated any Actor) {
        guard !isSending, let chat, let signal = chat.typing.dequeueSignal() else { return }
        let channel = chat.channel
        isSending = true
        Task { [weak self] in
            var hasFailed = channel == nil
            do throws(SignalingError) { _ = try await channel?.send(signal.request) } catch { hasFailed = true }
            self?.sent(signal, hasFailed: hasFailed, on: isolation)
        }
    }

    private func sent(_ signal: ChatTyping.OutgoingSignal, hasFailed: Bool, on isolation: isolated any Actor) {
        isSending = false
        if hasFailed { chat?.typing.publishFailed(n: signal.n) }
        publish(on: isolation)
    }
}

extension WallTime {
    /// By the machine's clock.
    public static var now: WallTime {
        WallTime(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
    }
}
