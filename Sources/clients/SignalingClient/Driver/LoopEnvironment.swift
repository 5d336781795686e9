#if SIGNALBOX_LIBWEBSOCKETS
    import Logging
    import SignalingProtocol
    import SignalingTransport

    typealias StandardEnvironment = LoopEnvironment

    /// The real ``ClientEnvironment``: one loop thread for all sessions of a process.
    final class LoopEnvironment: ClientEnvironment {
        /// Starts its thread when the first session needs it.
        static let shared = LoopEnvironment()

        private let loop: LoopThread
        private let failure: TransportError?

        private init() {
            // A library does not write to its application's log: callers receive errors as thrown values.
            let logger = Logger(label: "signalbox.client") { _ in SwiftLogNoOpLogHandler() }
            loop = LoopThread(name: "signalbox-client", logger: logger)
            do throws(TransportError) {
                try loop.start()
                failure = nil
            } catch {
                failure = error
            }
        }

        func start() throws(SignalingError) {
            if let failure { throw SignalingError(.connectFailed, "no event loop: \(failure.message)") }
        }

        func post(_ work: @escaping @Sendable () -> Void) { loop.post(work) }

        var now: MonotonicInstant { loop.now }

        var wallTime: WallTime { LoopThread.wallTime }

        func random() -> Double { Double.random(in: 0..<1) }

        func makeTimer(_ fire: @escaping () -> Void) -> any ClientTimer { LoopTimer(loop: loop, handler: fire) }

        func openLink(
            url: String, trustedCertificatesFile: String?, onEvent: @escaping (ClientLinkEvent) -> Void
        ) throws(SignalingError) -> any ClientLink {
            var options = ClientSocket.Options()
            options.trustedCertificatesFile = trustedCertificatesFile
            do {
                return WebSocketLink(
                    try ClientSocket.connect(loop: loop, url: url, options: options, handler: LinkEvents(onEvent)))
            } catch {
                let isCallersFault = error.code == .invalidURL || error.code == .libraryFailed
                throw SignalingError(isCallersFault ? .invalidParameter : .connectFailed, error.message)
            }
        }
    }

    extension LoopTimer: ClientTimer {}

    /// A ``ClientSocket`` as the driver's link. Confined to the loop.
    private final class WebSocketLink: ClientLink {
        private let socket: ClientSocket
        private let frame = OutboundFrame()

        init(_ socket: ClientSocket) { self.socket = socket }

        var isBacklogged: Bool { socket.isBacklogged }

        func write(_ message: ArraySlice<UInt8>) {
            // A client masks its frames in place, so the frame's bytes mean nothing after a write.
            frame.removeAll()
            frame.append(contentsOf: message)
            socket.write(frame)
        }

        func close(code: UInt16) { socket.close(code: code, reason: "") }
    }

    /// Turns a ``ClientSocket``'s callbacks into events. Confined to the loop.
    private final class LinkEvents: ClientSocketHandler {
        private let onEvent: (ClientLinkEvent) -> Void

        init(_ onEvent: @escaping (ClientLinkEvent) -> Void) { self.onEvent = onEvent }

        func clientSocketOpened(_ socket: ClientSocket) { onEvent(.opened) }
        func clientSocket(_ socket: ClientSocket, received message: UnsafeRawBufferPointer) {
            onEvent(.received(message))
        }
        func clientSocketDrained(_ socket: ClientSocket) { onEvent(.drained) }
        func clientSocketClosed(_ socket: ClientSocket, code: UInt16?, reason: String) { onEvent(.closed(code: code)) }
        func clientSocketFailed(_ socket: ClientSocket, error: TransportError) {
            onEvent(.failed(SignalingError(.connectFailed, error.message)))
        }
    }
#endif
