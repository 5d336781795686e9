import SignalingProtocol

extension TextChatComponent {
    /// Keeps the user's messages in an outbox from now on, so that they survive the end of the program, and takes up
    /// those of an earlier run. Call it once, before the ``channel`` has a connection.
    ///
    /// With an outbox the user can write without a connection. A message stays in the outbox until the session has it,
    /// or until it is discarded. It is sent once and in order, also if the program is killed at any moment:
    /// - A message of which no byte has left is sent after the next connect.
    /// - A message that was given to a connection without an answer may have arrived. When that connection is gone, the
    ///   component looks for it in the session's history, and sends it again only if it is not there.
    /// - If the session keeps no history, or the history does not reach back so far, the message has failed with
    ///   ``ChatMessage/Failure/interrupted``, and the user decides. It holds back nothing.
    ///
    /// Connect with ``formerConnection``, so that the server ends the connection of the earlier run at once. Otherwise
    /// the component waits until the server ends it.
    ///
    /// - Parameters:
    ///   - storage: where the outbox lies, such as a file.
    ///   - room: names the room, such as its session ID. An outbox of another room is set aside.
    ///   - now: the date of messages that have none.
    ///   - isolation: the actor of the component, on which it sends.
    /// - Throws: the error of the storage, which then is not used.
    @discardableResult
    public func openOutbox(
        _ storage: some OutboxStorage, room: String, now: WallTime, isolation: isolated (any Actor)? = #isolation
    ) throws -> OutboxOpening {
        if let isolation { actor = isolation }
        var contents = OutboxContents(room: room)
        var damage: String?
        if let bytes = try storage.read() {
            do throws(OutboxContents.Damage) {
                let stored = try OutboxContents(decoding: bytes)
                if stored.room == room { contents = stored } else { damage = "it belongs to another room" }
            } catch {
                damage = error.reason
            }
        }
        if damage != nil { try storage.setAside() }
        self.storage = storage
        carryOut(rules.takeUp(contents, now: now))
        return damage.map { .setAside(reason: $0) } ?? .opened(count: contents.entries.count)
    }

    /// The connection of an earlier run to which a message was given. Pass it to `Session.connect`, which replaces it.
    public var formerConnection: ConnectionClaim? { rules.outbox?.contents.former }
}
