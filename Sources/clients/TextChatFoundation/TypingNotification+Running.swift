import Foundation
import TextChat
@_exported import TextChatRunning

extension TextChatComponent {
    /// Runs typing as ``runTyping(isolation:)``, and posts when another user begins, pauses or finishes.
    ///
    /// - Parameters:
    ///   - center: gets a ``TypingNotification`` for each change; nil: none.
    ///   - room: the `object` of the notifications, held weakly. Nil: the component itself.
    ///   - isolation: the actor of the component, by default the caller's. It is not kept alive.
    public func runTyping(
        postingTo center: NotificationCenter?, room: AnyObject? = nil, isolation: isolated any Actor = #isolation
    ) {
        let notifier = center.map { TypingNotifier(room: room ?? self, center: $0) }
        runTyping(onChange: notifier.map { notifier in { notifier.post($0) } })
    }
}
