import SignalingProtocol

/// Everything that typing reacts to. ``TypingIndicator``, ``TypingSender`` and ``TypingRoster`` accept the same inputs,
/// and each reacts to those that concern it. JavaScript and the vectors use the same names.
public enum TypingInput: Hashable, Sendable {
    // MARK: The user

    /// The user has changed the draft to this text. It counts as a key if the text is new and could be sent; white
    /// space alone could not. A text that could not be sent ends typing.
    case draftEdited(String)
    /// The program has changed the draft: it restored or cleared the field. Never a key.
    case draftSet(String)
    /// The app reports the action itself, as often as it likes (Layer's `sendTypingIndicator`).
    case send(TypingAction)
    /// The user sends a message, which is published after this input.
    case messageSubmitted
    /// The user has left the room: another screen, another room, or the program went to the background.
    case leave
    /// Whether the user has opted out of being seen. If the policy is reciprocal, such a user sees no others either.
    case optedOut(Bool)
    /// Users that are never shown, on any of their connections: by their names, or by their user IDs.
    case blockedUsers(Set<String>)

    // MARK: The connection

    /// This connection is up, for the first time or again. Typing starts over on both sides. Its user is nil for a guest
    /// (USR-1).
    case connected(ConnectionID, user: UserID? = nil)
    /// Whether the user may not signal (MOD-4). Nothing is sent then; others are shown.
    case restricted(Bool)
    /// The socket is lost, and the client tries to resume. Nothing is sent, and no user is shown.
    case reconnecting
    /// The connection has ended. Nothing is sent, and no user is shown.
    case disconnected
    /// The connection may be lost. Nothing is sent; others stay until they expire or ``connected(_:user:)`` comes.
    case connectionLost
    /// How many connections the room has, the user's own included.
    case memberCount(Int)
    /// The only connection that gets the user's typing signals from now on; nil: all connections. The previous
    /// receivers get a finish, and the next key begins anew.
    case recipient(ConnectionID?)
    /// Signal number `n` was not sent, or possibly not. It is not sent again.
    case publishFailed(n: Int64)

    // MARK: Others

    /// A typing signal of another connection. `user` names the user of that connection; nil or empty: unknown. `userID`
    /// is that user as the server says; nil for a guest (USR-1).
    case signal(TypingSignal, from: ConnectionID, user: String?, userID: UserID? = nil)
    /// A chat message of another connection, and the number that it carries.
    case messageReceived(from: ConnectionID, typingN: Int64?)
    /// Another connection has left the session.
    case connectionDestroyed(ConnectionID)
}
