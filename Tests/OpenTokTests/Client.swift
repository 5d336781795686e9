import Dispatch
import Foundation
import OpenTok
import Testing

/// A call of a session's delegate.
enum DelegateEvent: Equatable, Sendable {
    case connected
    case reconnecting, reconnected
    case disconnected
    case failed(OTSessionErrorCode?)
    case created(String?)
    case destroyed(String?)
    /// `from` is the sender's connection data.
    case signal(type: String?, from: String?, string: String?)
}

/// A delegate that records its calls, and requires them to be on the session's queue.
final class Recorder: NSObject, OTSessionDelegate, Sendable {
    static let mark = DispatchSpecificKey<Bool>()

    let events: AsyncStream<DelegateEvent>
    private let continuation: AsyncStream<DelegateEvent>.Continuation

    override init() { (events, continuation) = AsyncStream.makeStream() }

    deinit { continuation.finish() }

    private func record(_ event: DelegateEvent) {
        #expect(DispatchQueue.getSpecific(key: Self.mark) == true, "the call is not on the apiQueue: \(event)")
        continuation.yield(event)
    }

    func sessionDidConnect(_ session: OTSession) {
        #expect(session.sessionConnectionStatus == .connected)
        #expect(session.connection != nil)
        #expect(session.capabilities != nil)
        record(.connected)
    }

    func sessionDidBeginReconnecting(_ session: OTSession) { record(.reconnecting) }
    func sessionDidReconnect(_ session: OTSession) { record(.reconnected) }

    func sessionDidDisconnect(_ session: OTSession) {
        #expect(session.sessionConnectionStatus == .notConnected)
        #expect(session.connection == nil)
        #expect(session.capabilities == nil)
        record(.disconnected)
    }

    func session(_ session: OTSession, didFailWithError error: OTError) {
        #expect(error.domain == OT_SESSION_ERROR_DOMAIN)
        #expect(!error.localizedDescription.isEmpty)
        record(.failed(OTSessionErrorCode(rawValue: Int32(error.code))))
    }

    func session(_ session: OTSession, streamCreated stream: OTStream) { Issue.record("the session has a stream") }
    func session(_ session: OTSession, streamDestroyed stream: OTStream) { Issue.record("the session has a stream") }

    func session(_ session: OTSession, connectionCreated connection: OTConnection) {
        record(.created(connection.data))
    }

    func session(_ session: OTSession, connectionDestroyed connection: OTConnection) {
        record(.destroyed(connection.data))
    }

    func session(
        _ session: OTSession, receivedSignalType type: String?, from connection: OTConnection?, with string: String?
    ) {
        record(.signal(type: type, from: connection?.data, string: string))
    }
}

/// A session and the events of its delegate. Used by the task of one test.
final class Client {
    let session: OTSession
    let recorder = Recorder()
    private var iterator: AsyncStream<DelegateEvent>.AsyncIterator

    init(apiKey: String, sessionId: String, settings: OTSessionSettings) throws {
        session = try #require(
            OTSession(apiKey: apiKey, sessionId: sessionId, delegate: recorder, settings: settings))
        let queue = DispatchQueue(label: "test")
        queue.setSpecific(key: Recorder.mark, value: true)
        session.apiQueue = queue
        iterator = recorder.events.makeAsyncIterator()
    }

    /// The next event. The time limit of the suite is its deadline.
    func next() async throws -> DelegateEvent {
        // Outside of the macro, which would send the iterator to another isolation.
        let event = await iterator.next(isolation: #isolation)
        return try #require(event, "the delegate was released")
    }

    /// Sends a signal: the error that the call reports at once.
    func signal(_ type: String?, _ string: String?, to connection: OTConnection? = nil) -> OTSessionErrorCode? {
        var error: OTError?
        session.signal(withType: type, string: string, connection: connection, error: &error)
        return error.flatMap { OTSessionErrorCode(rawValue: Int32($0.code)) }
    }
}

/// The code of the error that a call reports at once; `nil` for none.
func code(_ call: (inout OTError?) -> Void) -> OTSessionErrorCode? {
    var error: OTError?
    call(&error)
    return error.flatMap { OTSessionErrorCode(rawValue: Int32($0.code)) }
}
