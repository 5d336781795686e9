/// Who hears what happens in a session; every call comes on ``OTSession/apiQueue``, one after the other.
///
/// The first five have to be there, as in OpenTok. The others do nothing unless they are.
public protocol OTSessionDelegate: AnyObject {
    /// ``OTSession/connection`` and ``OTSession/capabilities`` are there from now on.
    func sessionDidConnect(_ session: OTSession)

    /// The connection has ended: after `disconnect`, by a moderator or the server, or right after a `didFailWithError`
    /// with `connectionDropped`.
    func sessionDidDisconnect(_ session: OTSession)

    /// The session could not be connected, its connection was lost, or the server refused what was asked of it. In the
    /// last case ``OTSession/sessionConnectionStatus`` is still `connected`.
    func session(_ session: OTSession, didFailWithError error: OTError)

    /// Never called: there are no streams.
    func session(_ session: OTSession, streamCreated stream: OTStream)

    /// Never called: there are no streams.
    func session(_ session: OTSession, streamDestroyed stream: OTStream)

    /// Another client is in the session. Those that were there before are told right after `sessionDidConnect`, in the
    /// order in which they came. Nothing that it sent is told before.
    func session(_ session: OTSession, connectionCreated connection: OTConnection)

    /// Another client has left. Nothing from it follows.
    func session(_ session: OTSession, connectionDestroyed connection: OTConnection)

    /// A signal arrived; one's own broadcasts do, too. `connection` is `nil` for a signal that came by REST.
    func session(
        _ session: OTSession, receivedSignalType type: String?, from connection: OTConnection?, with string: String?)

    /// The socket is lost, and the session tries to come back; ``OTSession/sessionConnectionStatus`` is `reconnecting`.
    func sessionDidBeginReconnecting(_ session: OTSession)

    /// The session is back, and what it missed follows. If it came back too late for that, ``OTSession/connection`` is
    /// another one than before.
    func sessionDidReconnect(_ session: OTSession)

    /// Never called: nothing is recorded.
    func session(_ session: OTSession, archiveStartedWithId archiveId: String, name: String?)

    /// Never called: nothing is recorded.
    func session(_ session: OTSession, archiveStoppedWithId archiveId: String)

    /// Never called: there is no sound to mute.
    func session(_ session: OTSession, info: OTMuteForcedInfo)
}

extension OTSessionDelegate {
    public func session(_ session: OTSession, connectionCreated connection: OTConnection) {}
    public func session(_ session: OTSession, connectionDestroyed connection: OTConnection) {}
    public func session(
        _ session: OTSession, receivedSignalType type: String?, from connection: OTConnection?, with string: String?
    ) {}
    public func sessionDidBeginReconnecting(_ session: OTSession) {}
    public func sessionDidReconnect(_ session: OTSession) {}
    public func session(_ session: OTSession, archiveStartedWithId archiveId: String, name: String?) {}
    public func session(_ session: OTSession, archiveStoppedWithId archiveId: String) {}
    public func session(_ session: OTSession, info: OTMuteForcedInfo) {}
}
