import Foundation
import SignalingProtocol
import TextChat

/// Another user has begun, paused or finished typing, as a `Notification` (Layer's way).
///
/// Its `object` is the app's room object. `userInfo` holds the participant and the action, and both together as a
/// ``TypingIndicatorObject``. The properties read them.
public struct TypingNotification {
    public static let name = Notification.Name("SignalboxDidReceiveTypingIndicator")

    /// The key of the participant, a `String`: the user ID where the token names a user, else the ID of the connection.
    /// For the name see ``TypingIndicatorObject/sender``.
    public static let participantKey = "SignalboxTypingIndicatorParticipant"
    /// The key of the action, an `Int` with Layer's numbers: 0 begin, 1 pause, 2 finish.
    public static let actionKey = "SignalboxTypingIndicatorAction"

    /// The key of a ``TypingIndicatorObject``, as Layer's `LYRTypingIndicatorObjectUserInfoKey`.
    public static let objectKey = "SignalboxTypingIndicatorObject"

    public let participant: String
    public let action: TypingAction
    /// The user and the action in one object. Nil if another program posted the notification without it.
    public let indicator: TypingIndicatorObject?

    /// Nil if the notification has another name or lacks a member.
    public init?(_ notification: Notification) {
        guard notification.name == Self.name, let participant = notification.userInfo?[Self.participantKey] as? String,
            let action = (notification.userInfo?[Self.actionKey] as? Int).flatMap(TypingAction.init(rawValue:))
        else { return nil }
        self.participant = participant
        self.action = action
        indicator = notification.userInfo?[Self.objectKey] as? TypingIndicatorObject
    }

    init(_ change: TypingChange) {
        participant = change.typer.user?.rawValue ?? change.typer.connectionId.rawValue
        action = change.action
        indicator = TypingIndicatorObject(change)
    }

    func notification(from room: AnyObject?) -> Notification {
        var userInfo: [String: Any] = [Self.participantKey: participant, Self.actionKey: action.rawValue]
        userInfo[Self.objectKey] = indicator
        return Notification(name: Self.name, object: room, userInfo: userInfo)
    }
}

/// The user and the action of a ``TypingNotification`` as one object, in the shape of Layer's `LYRTypingIndicator`.
public final class TypingIndicatorObject: NSObject, Sendable {
    public let action: TypingAction
    /// The user who types, as Layer's `LYRIdentity`: the name, nil if unknown, and the connection.
    public let sender: TypingSnapshot.Typer

    init(_ change: TypingChange) {
        action = change.action
        sender = change.typer
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? TypingIndicatorObject else { return false }
        return action == other.action && sender == other.sender
    }

    public override var hash: Int {
        var hasher = Hasher()
        hasher.combine(action)
        hasher.combine(sender)
        return hasher.finalize()
    }
}

/// Posts the changes of a room's typing. Pass it each new snapshot, in order; it compares the first with an empty one.
///
/// It belongs to one actor or thread. Observers are called on it, inside ``post(_:)``.
public final class TypingNotifier {
    private let center: NotificationCenter
    private weak var room: AnyObject?
    private var last = TypingSnapshot.nobody
    /// Changes that were not posted yet.
    private var pending: [TypingChange] = []
    private var isPosting = false

    /// - Parameter room: the `object` of the notifications, held weakly.
    public init(room: AnyObject?, center: NotificationCenter = .default) {
        self.room = room
        self.center = center
    }

    /// Posts one notification for each person whose state has changed since the last snapshot. When an observer calls
    /// this again, its changes follow those of the first call.
    public func post(_ snapshot: TypingSnapshot) {
        pending += snapshot.changes(since: last)
        last = snapshot
        if isPosting { return }
        isPosting = true
        defer { isPosting = false }
        while !pending.isEmpty { center.post(TypingNotification(pending.removeFirst()).notification(from: room)) }
    }
}
