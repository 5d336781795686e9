import SignalingTransport

/// Hands what a socket says to its session, with the generation that the socket belongs to. Confined to the loop.
final class SocketEvents: ClientSocketHandler {
    enum Event {
        case opened
        /// One whole text message; good during the call only.
        case received(UnsafeRawBufferPointer)
        case drained
        case closed(code: UInt16?)
        case failed(TransportError)
    }

    private let driver: SessionDriver
    private let generation: Int

    init(driver: SessionDriver, generation: Int) {
        self.driver = driver
        self.generation = generation
    }

    func clientSocketOpened(_ socket: ClientSocket) { driver.heard(.opened, generation: generation) }
    func clientSocket(_ socket: ClientSocket, received message: UnsafeRawBufferPointer) {
        driver.heard(.received(message), generation: generation)
    }
    func clientSocketDrained(_ socket: ClientSocket) { driver.heard(.drained, generation: generation) }
    func clientSocketClosed(_ socket: ClientSocket, code: UInt16?, reason: String) {
        driver.heard(.closed(code: code), generation: generation)
    }
    func clientSocketFailed(_ socket: ClientSocket, error: TransportError) {
        driver.heard(.failed(error), generation: generation)
    }
}
