import SignalingTransport

/// Passes the transport's calls on: sockets to the hub, requests to the router. Confined to the loop.
final class TransportDispatch: TransportServerHandler {
    private let hub: ServerHub
    private let router: RESTRouter

    init(hub: ServerHub, router: RESTRouter) {
        self.hub = hub
        self.router = router
    }

    func socketOpened(_ socket: ServerSocket) { hub.socketOpened(socket) }
    func socket(_ socket: ServerSocket, received message: UnsafeRawBufferPointer) {
        hub.socket(socket, received: message, frameCount: socket.messageFrameCount)
    }
    func socket(_ socket: ServerSocket, violated violation: ProtocolViolation) {
        hub.socket(socket, violated: violation)
    }
    func socketDrained(_ socket: ServerSocket) { hub.socketDrained(socket) }
    func socketClosed(_ socket: ServerSocket, code: UInt16?) { hub.socketClosed(socket, code: code) }
    func requestReceived(_ exchange: HTTPExchange) { router.handle(exchange) }
}
