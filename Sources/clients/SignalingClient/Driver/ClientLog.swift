import Logging
import SignalingProtocol

/// Writes the log lines of one session. It never writes tokens, connection data, signal data or the resume secret.
///
/// | level | lines |
/// | --- | --- |
/// | error | a message of the server that breaks the protocol |
/// | warning | events may be missing (G4); the connection has ended without a `disconnect` of this client |
/// | info | connected, socket lost, back in the session |
/// | debug | each attempt to connect, refused requests, the end that this client asked for |
struct ClientLog: Sendable {
    /// A library does not write to its application's log unless it is given a logger.
    static let none = ClientLog(Logger(label: "signalbox.client") { _ in SwiftLogNoOpLogHandler() })

    private let logger: Logger

    init(_ logger: Logger) { self.logger = logger }

    init(_ logger: Logger, session: SessionID) {
        var logger = logger
        logger[metadataKey: "session"] = "\(session.rawValue)"
        self.logger = logger
    }

    func opening(_ url: String) { logger.debug("connecting", metadata: ["url": "\(url)"]) }

    func connected(_ connection: Connection) {
        logger.info("connected", metadata: ["connection": "\(connection.connectionId.rawValue)"])
    }

    func connectFailed(_ error: SignalingError) { logger.debug("connect failed", metadata: Self.metadata(error)) }

    func refused(_ error: SignalingError) { logger.debug("request refused", metadata: Self.metadata(error)) }

    func malformed(_ error: any Error) {
        logger.error("the server's message breaks the protocol", metadata: ["error": "\(error)"])
    }

    func overflowed() {
        logger.warning("an event stream ends: its reader is too slow, and events are missing")
    }

    func event(_ event: SessionEvent, connection: Connection?) {
        switch event {
        case .signal, .history, .changed, .reactions, .reacted, .read, .erased, .connectionCreated,
            .connectionDestroyed, .connectionAway, .connectionBack, .userJoined, .userLeft, .moderated, .restricted,
            .unrestricted, .overflowed:
            break
        case .reconnecting: logger.info("the socket is lost; reconnecting")
        case .reconnected(let outcome, let missing):
            var metadata: Logger.Metadata = [
                "outcome": "\(outcome.rawValue)", "connection": "\(connection?.connectionId.rawValue ?? "none")",
            ]
            if let missing { metadata["missing"] = "\(missing.first) to \(missing.last)" }
            logger.log(
                level: outcome == .lost ? .warning : .info,
                outcome == .lost ? "reconnected; events may be missing" : "reconnected", metadata: metadata)
        case .disconnected(let reason, let ban):
            logger.log(
                level: reason == .clientDisconnected ? .debug : .warning,
                ban == nil ? "disconnected" : "disconnected; the user is banned",
                metadata: ["reason": "\(reason.rawValue)"])
        }
    }

    private static func metadata(_ error: SignalingError) -> Logger.Metadata {
        ["code": .stringConvertible(error.code.number), "error": "\(error.message)"]
    }
}
