import SignalingProtocol

extension ClientState {
    enum Input {
        case connect(ConnectRequest)
        case signal(SignalRequest, CallID, retriesAfterReconnect: Bool = true)
        case forceDisconnect(ConnectionID, CallID)
        case refreshToken(String, CallID)
        case history(HistoryRequest, CallID)
        case change(ChangeRequest, CallID)
        case react(ReactRequest, CallID)
        case reactors(ReactorsRequest, CallID)
        /// The user has read everything up to a seq.
        case read(Seq, CallID)
        case erase(Erasure, CallID)
        case moderate(ModerationRequest, CallID)
        case restrictions(CallID)
        case disconnect
        /// The system reports that the network is back, or another one.
        case networkBack
        /// The system stops the app soon: it goes to the background. The client makes no attempts until `awake`.
        case suspended
        /// The app is in the foreground again.
        case awake
        /// The application no longer waits for its connect. Without effect after `connected`.
        case cancelConnect
        /// The application no longer wants a request of which no byte was written.
        case withdraw(CallID)
        case socketOpened
        case received(ServerMessage)
        /// A message that this version of the protocol does not know (WIRE-6).
        case receivedUnknown
        /// A line that breaks the protocol.
        case receivedMalformed(SignalingError)
        /// The socket is gone; `nil` without a close code.
        case socketClosed(code: UInt16?)
        /// The socket could not be opened.
        case socketFailed(SignalingError)
    }

    enum Effect {
        case openSocket
        case send(ClientMessage)
        case closeSocket(CloseReason)
        case connectSucceeded(Welcome)
        case connectFailed(SignalingError)
        /// Back in the session as another connection (RES-2). The events that follow report the changes.
        case connectionReplaced(Welcome)
        /// Back in the session as the same connection.
        case connectionResumed(Welcome)
        case callSucceeded(CallID, Seq?)
        /// The success of a `history` request.
        case pageRead(CallID, HistoryPage)
        /// The success of a `restrictions` request.
        case restrictionsRead(CallID, [RestrictionRecord])
        /// The success of a `reactors` request.
        case reactorsRead(CallID, [Reactors])
        case callFailed(CallID, SignalingError)
        case emit(SessionEvent)
    }

    /// Names a request of the application that waits for its answer.
    struct CallID: Hashable { var rawValue: UInt64 }
}
