import Foundation
import SignalingProtocol

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A WebSocket of `URLSession`. Confined to its loop. ``TaskSocketState`` makes its decisions.
package final class TaskSocket {
    private let loop: DispatchLoop
    private let onReport: (TaskSocketState.Report) -> Void
    private var state: TaskSocketState
    private var timer: DispatchTimer?
    private var session: URLSession?
    private var task: URLSessionWebSocketTask?

    /// What the server must agree to (WIRE-1).
    private static let subprotocol = "signalbox.v1"

    /// Begins to open a WebSocket, on the loop. The results are reported, never during this call.
    ///
    /// - Parameters:
    ///   - url: `ws://host[:port]/path` or `wss://…`.
    ///   - trustedCertificatesFile: a PEM file with certificates to trust beside the system's.
    ///   - onReport: called on the loop; kept until the last report, which is `closed` or `failed`.
    /// - Throws: ``SignalingError`` 400 for a URL or a file that cannot be used.
    package init(
        loop: DispatchLoop, url: String, trustedCertificatesFile: String?,
        onReport: @escaping (TaskSocketState.Report) -> Void
    ) throws(SignalingError) {
        guard let address = URL(string: url), address.host != nil else {
            throw SignalingError(.invalidParameter, "not a WebSocket URL: \(url)")
        }
        let trust = try trustedCertificatesFile.map { file throws(SignalingError) in try TrustedCertificates(file) }
        self.loop = loop
        self.onReport = onReport
        state = TaskSocketState(subprotocol: Self.subprotocol)
        // A session of its own, because a session keeps its delegate until it is invalidated.
        let session = URLSession(
            configuration: Self.configuration, delegate: TaskDelegate(socket: self, loop: loop, trust: trust),
            delegateQueue: nil)
        let task = session.webSocketTask(with: address, protocols: [Self.subprotocol])
        // The default of 1 MiB would cut a long list of connections.
        task.maximumMessageSize = Limits.clientMessageByteCount
        (self.session, self.task) = (session, task)
        timer = DispatchTimer(loop: loop) { [weak self] in self?.handle(.deadlinePassed) }
        handle(.started)
    }

    /// No cookies, caches or passwords on a disk. Heartbeats say when a socket is lost, and ``TaskSocketState`` how long
    /// a handshake may take: the session's own timers would cut a socket that is merely quiet.
    private static var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 86_400
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        return configuration
    }

    /// Whether a message is being sent. A write must wait for `drained` then.
    package var isBacklogged: Bool { state.isBacklogged }

    /// Sends the bytes as one text message. Does nothing on a socket that is not open.
    package func write(_ message: ArraySlice<UInt8>) { handle(.writeRequested(Array(message))) }

    /// Sends a close frame with 1000 after the written messages; cuts the connection for every other code.
    ///
    /// It is carried out after this callback, so that the last report never comes during the call.
    package func close(code: UInt16) {
        let reference = TaskSocketReference(self)
        loop.post { reference.socket.handle(.closeRequested(code: code)) }
    }

    func handle(_ event: TaskSocketState.Event) {
        for effect in state.handle(event, now: loop.now) { perform(effect) }
    }

    private func perform(_ effect: TaskSocketState.Effect) {
        switch effect {
        case .resume: task?.resume()
        case .receive(let number): receive(number)
        case .send(let number, let bytes): send(number, bytes)
        case .closeNormally: task?.cancel(with: .normalClosure, reason: nil)
        case .cut: task?.cancel()
        case .invalidate:
            session?.invalidateAndCancel()
            (session, task, timer) = (nil, nil, nil)
        case .schedule(let deadline): timer?.schedule(at: deadline)
        case .cancelDeadline: timer?.cancel()
        case .report(let report): onReport(report)
        }
    }

    /// The forms with completions: the asynchronous ones have hung or raced with a cancel on older systems.
    private func receive(_ number: Int) {
        let reference = TaskSocketReference(self)
        task?.receive { [loop] result in
            let event: TaskSocketState.Event =
                switch result {
                case .success(.string(let text)): .received(number, .text(Array(text.utf8)))
                case .success(.data): .received(number, .binary)
                case .success: .received(number, .binary)
                case .failure: .receiveFailed(number)
                }
            loop.post { reference.socket.handle(event) }
        }
    }

    private func send(_ number: Int, _ bytes: [UInt8]) {
        let reference = TaskSocketReference(self)
        task?.send(.string(String(decoding: bytes, as: UTF8.self))) { [loop] error in
            loop.post { reference.socket.handle(error == nil ? .sent(number) : .sendFailed(number)) }
        }
    }
}

/// Carries a socket through the task's callbacks, which come on threads of the system.
///
/// Unchecked: `socket` is read on the loop only. Strong, because a socket lives until its last report: its owner may
/// have let go of it.
struct TaskSocketReference: @unchecked Sendable {
    let socket: TaskSocket
    init(_ socket: TaskSocket) { self.socket = socket }
}
