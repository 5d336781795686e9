import Foundation
import SignalingProtocol
import TextChat

extension TextChatComponent {
    /// Runs typing: others see when this user types, and the component learns which other users type. For a component
    /// that belongs to the main actor. Typing runs until the component is released, or until `typing.stop()`.
    ///
    /// - Parameters:
    ///   - center: gets a ``TypingNotification`` when another user begins, pauses or finishes; nil: none.
    ///   - room: the `object` of the notifications, held weakly. Nil: the component itself.
    @MainActor
    public func runTyping(postingTo center: NotificationCenter? = nil, room: AnyObject? = nil) {
        let notifier = center.map { TypingNotifier(room: room ?? self, center: $0) }
        let runner = TypingRunner(self, notifier: notifier)
        let begin = ContinuousClock.now
        typing.start {
            MonotonicInstant(nanoseconds: begin.duration(to: .now).wholeNanoseconds)
        } wake: {
            // The component belongs to the main actor, so it calls this there.
            MainActor.assumeIsolated { runner.wake() }
        }
    }

    /// Sends the draft with a new random local ID, dated now; see `send(now:localID:isolation:)`.
    public func send(isolation: isolated any Actor = #isolation) async -> SendResult {
        var randomness = SystemRandomNumberGenerator()
        return await send(now: .now, localID: LocalID(using: &randomness))
    }
}

/// Owns the timer of one component's typing and sends its signals: each at once, one after the other, and only once.
/// The component retains it.
@MainActor
private final class TypingRunner {
    private weak var chat: TextChatComponent?
    private let notifier: TypingNotifier?
    private var timer: Task<Void, Never>?
    private var deadline: MonotonicInstant?
    private var isSending = false

    init(_ chat: TextChatComponent, notifier: TypingNotifier?) {
        self.chat = chat
        self.notifier = notifier
    }

    deinit { timer?.cancel() }

    func wake() {
        guard let chat else { return }
        if deadline != chat.typing.nextDeadline { schedule(chat.typing) }
        publish()
        notifier?.post(chat.typing.current)
    }

    private func schedule(_ typing: ChatTyping) {
        timer?.cancel()
        deadline = typing.nextDeadline
        guard let deadline else { return }
        let wait = deadline.duration(since: typing.now)
        let end = ContinuousClock.now.advanced(by: wait)
        timer = Task { [weak self] in
            do { try await Task.sleep(until: end, clock: .continuous) } catch { return }
            self?.timerFired(deadline)
        }
    }

    private func timerFired(_ deadline: MonotonicInstant) {
        guard self.deadline == deadline, let typing = chat?.typing else { return }
        self.deadline = nil
        typing.advance(to: typing.now)
    }

    /// While a signal is in flight, the next one waits, and a newer one replaces it. So signals never overtake each
    /// other.
    private func publish() {
        guard !isSending, let chat, let post = chat.typing.takePost() else { return }
        let channel = chat.channel
        isSending = true
        Task { [weak self] in
            var hasFailed = channel == nil
            do throws(SignalingError) { _ = try await channel?.send(post.request) } catch { hasFailed = true }
            self?.sent(post, hasFailed: hasFailed)
        }
    }

    private func sent(_ post: ChatTyping.Post, hasFailed: Bool) {
        isSending = false
        if hasFailed { chat?.typing.publishFailed(n: post.n) }
        publish()
    }
}

extension WallTime {
    /// By the machine's clock.
    public static var now: WallTime {
        WallTime(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
    }
}
