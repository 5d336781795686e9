import Dispatch
import Foundation
import Locking
import Logging
import SignalingClient

/// A session of OpenTok's iOS library, on Signalbox's client.
///
/// ```swift
/// import OpenTok
///
/// let session = OTSession(apiKey: kApiKey, sessionId: kSessionId, delegate: self)!
/// var error: OTError?
/// session.connect(withToken: kToken, error: &error)
/// ```
///
/// You can use it from any thread. A call reports the errors that it finds at once through its `error` argument.
/// ``OTSessionDelegate/session(_:didFailWithError:)`` reports a later refusal by the server. The calls of one thread
/// reach the server in their order.
open class OTSession: NSObject, @unchecked Sendable {
    // Unchecked, because subclasses are allowed: the mutexes guard everything that changes.

    /// The maximum number of requests that wait for the server's answer.
    static let waitingLimit = 10_000

    struct State {
        var status = OTSessionConnectionStatus.notConnected
        /// Counts the calls of `connect`. Events of an earlier attempt are dropped.
        var attempt = 0
        var channel: Session?
        var connection: OTConnection?
        var capabilities: OTSessionCapabilities?
        /// The other connections that were reported to the delegate.
        var peers: [ConnectionID: OTConnection] = [:]
        /// Whether `peers` has every other connection. Signals that a server replays may be of clients that have left.
        var knowsAllPeers = false
        var waitingCount = 0
        var apiQueue = DispatchQueue.main

        /// Whether there is a connection, with or without a socket.
        var hasConnection: Bool { status == .connected || status == .reconnecting }

        /// The connection has ended, or could not be established.
        mutating func end(_ status: OTSessionConnectionStatus) {
            self.status = status
            channel = nil
            connection = nil
            capabilities = nil
            peers = [:]
            knowsAllPeers = false
        }
    }

    /// Unchecked: the mutex guards the reference, and the delegate is only called on the `apiQueue`.
    private struct Listener: @unchecked Sendable {
        weak var delegate: (any OTSessionDelegate)?
    }

    public let apiKey: String
    public let sessionId: String

    let apiURL: URL?
    let options: Session.Options
    let logger: Logger?
    let state = Lock(State())
    private let listener: Lock<Listener>

    /// Makes a session that is not connected. The result is never `nil`: ``connect(withToken:error:)`` reports wrong
    /// arguments.
    public convenience init?(apiKey: String, sessionId: String, delegate: (any OTSessionDelegate)?) {
        self.init(apiKey: apiKey, sessionId: sessionId, delegate: delegate, settings: nil)
    }

    /// Makes a session with these settings. Later changes of the settings have no effect.
    public init?(
        apiKey: String, sessionId: String, delegate: (any OTSessionDelegate)?, settings: OTSessionSettings?
    ) {
        self.apiKey = apiKey
        self.sessionId = sessionId
        apiURL = settings?.apiURL
        options = Session.Options(
            connectionEventsSuppressed: settings?.connectionEventsSuppressed ?? false,
            trustedCertificatesFile: settings?.trustedCertificatesFile)
        logger = settings?.logger
        listener = Lock(Listener(delegate: delegate))
    }

    /// Vonage's name for ``init(apiKey:sessionId:delegate:)``: an application's ID takes the place of the API key.
    public convenience init?(applicationId: String, sessionId: String, delegate: (any OTSessionDelegate)?) {
        self.init(apiKey: applicationId, sessionId: sessionId, delegate: delegate, settings: nil)
    }

    /// Vonage's name for ``init(apiKey:sessionId:delegate:settings:)``.
    public convenience init?(
        applicationId: String, sessionId: String, delegate: (any OTSessionDelegate)?, settings: OTSessionSettings?
    ) {
        self.init(apiKey: applicationId, sessionId: sessionId, delegate: delegate, settings: settings)
    }

    // MARK: - State

    public var sessionConnectionStatus: OTSessionConnectionStatus { state.withLock { $0.status } }

    /// The connection of this client; `nil` unless connected. It stays while the session reconnects.
    public var connection: OTConnection? { state.withLock { $0.connection } }

    /// The permissions of the token; `nil` unless connected.
    public var capabilities: OTSessionCapabilities? { state.withLock { $0.capabilities } }

    /// Always empty: there are no streams.
    public var streams: [String: OTStream] { [:] }

    /// The delegate, held weakly.
    public weak var delegate: (any OTSessionDelegate)? {
        get { listener.withLock { $0 }.delegate }
        set {
            let new = Listener(delegate: newValue)
            listener.withLock { $0 = new }
        }
    }

    /// The serial queue on which the delegate is called. The default is the main queue. A program without a user
    /// interface has to run it: `dispatchMain()` or `RunLoop.main.run()`.
    public var apiQueue: DispatchQueue {
        get { state.withLock { $0.apiQueue } }
        set { state.withLock { $0.apiQueue = newValue } }
    }

    // MARK: - Connect and disconnect

    /// Connects. Reports the result with `sessionDidConnect` or `didFailWithError`.
    ///
    /// Errors at once: 1011 for an empty key, session ID or token; 1015 if the session is connected, connecting or
    /// disconnecting. Errors later: 1004 for a key or token that the server refuses, 1005 for such a session ID, 1006
    /// if the server cannot be reached, 1027 if the session is full.
    public func connect(withToken token: String, error: OTErrorPointer?) {
        error?.pointee = nil
        for (name, value) in [("API key", apiKey), ("session id", sessionId), ("token", token)] where value.isEmpty {
            error?.pointee = OTError(.nullOrInvalidParameter, "the \(name) is empty")
            return
        }
        let channel = Session(
            apiKey: apiKey, sessionId: sessionId, server: server(), options: options, logger: logger)
        let attempt: Int? = state.withLock { state in
            guard state.status == .notConnected || state.status == .failed else { return nil }
            state.status = .connecting
            state.channel = channel
            state.attempt += 1
            return state.attempt
        }
        guard let attempt else {
            error?.pointee = OTError(
                .sessionIllegalState, "already connected, connecting or disconnecting; disconnect first")
            return
        }
        // Subscribe before the connect, so that no event is missed.
        let events = channel.events
        channel.connect(token: token) { [weak self] result in
            self?.onAPIQueue { session in
                switch result {
                case .failure(let refusal): session.connectFailed(refusal)
                case .success:
                    session.connected(through: channel)
                    session.follow(events, attempt)
                }
            }
        }
    }

    /// Disconnects. Reports the end with `sessionDidDisconnect`. Earlier requests still reach the server.
    ///
    /// Error at once: 1010 unless connected or connecting.
    public func disconnect(_ error: OTErrorPointer? = nil) {
        error?.pointee = nil
        let channel: Session? = state.withLock { state in
            guard state.hasConnection || state.status == .connecting else { return nil }
            state.status = .disconnecting
            return state.channel
        }
        guard let channel else {
            error?.pointee = .notConnected
            return
        }
        channel.beginDisconnect()
    }
}
