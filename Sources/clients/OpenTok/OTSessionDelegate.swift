/// Receives the events of a session, one after the other, on ``OTSession/apiQueue``.
///
/// As in OpenTok, the first five methods are required, and the others are optional.
public protocol OTSessionDelegate: AnyObject {
    /// The session is connected. ``OTSession/connection`` and ``OTSession/capabilities`` are set.
    func sessionDidConnect(_ session: OTSession)

    /// The connection has ended: after `disconnect`, by a moderator or the server, or right after a `didFailWithError`
    /// with `connectionDropped`.
    func sessionDidDisconnect(_ session: OTSession)

    /// The session could not connect, its connection was lost, or the server refused a request. After a refused request
    /// ``OTSession/sessionConnectionStatus`` is still `connected`.
    func session(_ session: OTSession, didFailWithError error: OTError)

    /// Never called: there are no streams.
    func session(_ session: OTSession, streamCreated stream: OTStream)

    /// Never called: there are no streams.
    func session(_ session: OTSession, streamDestroyed stream: OTStream)

    /// Another client is in the session. For clients that joined earlier this is called right after
    /// `sessionDidConnect`, in the order in which they joined. It precedes all signals of that client.
    func session(_ session: OTSession, connectionCreated connection: OTConnection)

    /// Another client has left. No signal from it follows, except in the replay after a reconnect as a new connection.
    func session(_ session: OTSession, connectionDestroyed connection: OTConnection)

    /// A signal has arrived. The sender of a broadcast receives it, too. `connection` is `nil` for a signal by REST.
    func session(
        _ session: OTSession, receivedSignalType type: String?, from connection: OTConnection?, with string: String?)

    /// The socket is lost, and the session reconnects. ``OTSession/sessionConnectionStatus`` is `reconnecting`.
    func sessionDidBeginReconnecting(_ session: OTSession)

    /// The session is connected again, and the missed events follow. If it was too late for that,
    /// ``OTSession/connection`` is a new connection.
    func sessionDidReconnect(_ session: OTSession)

    // MARK: Not in OpenTok's iOS library: what JavaScript's event handlers get

    /// The connection has ended, for this reason (JavaScript: `sessionDisconnected` with `reason`). The default calls
    /// ``sessionDidDisconnect(_:)``; a delegate that implements both gets this call alone.
    func sessionDidDisconnect(_ session: OTSession, reason: OTDisconnectReason)

    /// Another client has left, for this reason (JavaScript: `connectionDestroyed` with `reason`). The default calls
    /// ``session(_:connectionDestroyed:)``; a delegate that implements both gets this call alone.
    func session(_ session: OTSession, connectionDestroyed connection: OTConnection, reason: OTDisconnectReason)

    /// The session is connected again, with this outcome (JavaScript: `sessionReconnected` with `outcome`). The default
    /// calls ``sessionDidReconnect(_:)``; a delegate that implements both gets this call alone.
    func sessionDidReconnect(_ session: OTSession, outcome: OTReconnectOutcome)

    // MARK: Media

    /// Never called: Signalbox records nothing.
    func session(_ session: OTSession, archiveStartedWithId archiveId: String, name: String?)

    /// Never called: Signalbox records nothing.
    func session(_ session: OTSession, archiveStoppedWithId archiveId: String)

    /// Never called: there is no audio to mute.
    func session(_ session: OTSession, info: OTMuteForcedInfo)

    /// Never called: there is no audio to mute.
    func session(_ session: OTSession, muteForced muteForcedInfo: OTMuteForcedInfo)
}

extension OTSessionDelegate {
    public func sessionDidDisconnect(_ session: OTSession, reason: OTDisconnectReason) {
        sessionDidDisconnect(session)
    }
    public func session(
        _ session: OTSession, connectionDestroyed connection: OTConnection, reason: OTDisconnectReason
    ) {
        self.session(session, connectionDestroyed: connection)
    }
    public func sessionDidReconnect(_ session: OTSession, outcome: OTReconnectOutcome) {
        sessionDidReconnect(session)
    }
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
    public func session(_ session: OTSession, muteForced muteForcedInfo: OTMuteForcedInfo) {}
}
