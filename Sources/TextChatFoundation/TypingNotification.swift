import Foundation
import SignalingProtocol
import TextChat

/// That somebody else has begun, paused or finished typing, as a `Notification`: Layer's way to hear of it.
///
/// Its `object` is the room, whatever the app has for one. `userInfo` holds the participant and the action; the properties read
/// them.
public struct TypingNotification {
    public static let name = Notification.Name("SignalboxDidReceiveTypingIndicator")

    /// The name of who types, a `String`: the user's, or else the id of their connection.
    public static let participantKey = "SignalboxTypingIndicatorParticipant"
    /// Layer's number for the action, an `Int`: 0 begin, 1 pause, 2 finish.
    public static let actionKey = "SignalboxTypingIndicatorAction"

    public let participant: String
    public let action: TypingAction

    /// Nil if the notification is another.
    public init?(_ notification: Notification) {
        guard notification.name == Self.name, let participant = notification.userInfo?[Self.participantKey] as? String,
            let action = (notification.userInfo?[Self.actionKey] as? Int).flatMap(TypingAction.init(rawValue:))
        else { return nil }
        self.participant = participant
        self.action = action
    }

    init(_ change: TypingChange) {
        participant = change.typer.name ?? change.typer.connectionID.rawValue
        action = change.action
    }

    func notification(from room: AnyObject?) -> Notification {
        Notification(
            name: Self.name, object: room,
            userInfo: [Self.participantKey: participant, Self.actionKey: action.rawValue])
    }
}

/// Posts what changes in a room's typing. Give it each new snapshot, in order; the first is compared with nobody.
///
/// It belongs to one actor or thread; observers are called on it, inside ``post(_:)``.
public final class TypingNotifier {
    private let center: NotificationCenter
    private weak var room: AnyObject?
    private var last = TypingSnapshot.nobody

    /// - Parameter room: what the notifications have as their `object`; not kept alive.
    public init(room: AnyObject?, center: NotificationCenter = .default) {
        self.room = room
        self.center = center
    }

    /// Posts one notification for each person whose state is another than in the snapshot before.
    public func post(_ snapshot: TypingSnapshot) {
        let changes = snapshot.changes(since: last)
        // First, since an observer may call back.
        last = snapshot
        for change in changes { center.post(TypingNotification(change).notification(from: room)) }
    }
}
