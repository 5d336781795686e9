import Foundation
import SignalingVerification
import Synchronization

/// The backend to which the server posts the feed. It listens on a loopback port until ``stop()``.
final class FeedReceiver: Sendable {
    enum Trouble: CaseIterable, Sendable {
        /// It resets each connection.
        case isDown
        /// It takes nothing, and does not answer.
        case hangs
        case answers500
        /// It takes the batch, and ends before it answers.
        case answersNothing
    }

    /// Takes a body, before the answer.
    typealias Take = @Sendable (_ body: ArraySlice<UInt8>) -> Void

    let port: Int
    private let listener: Int32
    private let trouble = Mutex<Trouble?>(nil)
    private let isStopped = Atomic(false)

    /// Listens. Posts wait until ``start(_:)``.
    init() throws { (listener, port) = try NetworkRelay.listen() }

    func start(_ take: @escaping Take) {
        Thread.detachNewThread { [self] in
            while !isStopped.load(ordering: .relaxed) {
                let descriptor = accept(listener, nil, nil)
                if descriptor < 0 { break }
                Thread.detachNewThread { [self] in serve(descriptor, take) }
            }
            close(listener)
        }
    }

    /// What befalls it from now on; nil: it takes each batch, and says so.
    func befalls(_ new: Trouble?) { trouble.withLock { $0 = new } }

    func stop() {
        guard !isStopped.exchange(true, ordering: .relaxed) else { return }
        shutdown(listener, Int32(SHUT_RDWR))
    }

    // MARK: - A connection

    private func serve(_ descriptor: Int32, _ take: Take) {
        let connection = RawConnection(accepted: descriptor)
        defer { connection.close() }
        var bytes: [UInt8] = []
        while let body = Self.readRequest(connection, &bytes), answer(connection, body, take) {}
    }

    /// - Returns: whether the next request may follow.
    private func answer(_ connection: RawConnection, _ body: ArraySlice<UInt8>, _ take: Take) -> Bool {
        switch trouble.withLock(\.self) {
        case nil:
            take(body)
            return connection.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8))
        case .answers500:
            return connection.send(Array("HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n".utf8))
        case .answersNothing: take(body)
        case .hangs:
            while trouble.withLock({ $0 == .hangs }), !isStopped.load(ordering: .relaxed) {
                Thread.sleep(forTimeInterval: 0.01)
            }
        case .isDown: connection.willReset()
        }
        return false
    }

    /// The body of the next request; nil at the end.
    private static func readRequest(_ connection: RawConnection, _ bytes: inout [UInt8]) -> ArraySlice<UInt8>? {
        let end = Array("\r\n\r\n".utf8)
        while true {
            if let head = bytes.firstRange(of: end) {
                let lines = String(decoding: bytes[..<head.lowerBound], as: UTF8.self).lowercased().split(
                    separator: "\r\n")
                let length = lines.first { $0.hasPrefix("content-length:") }
                    .flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) }
                guard let length else { return nil }
                while bytes.count < head.upperBound + length {
                    guard let more = connection.receive() else { return nil }
                    bytes += more
                }
                let body = bytes[head.upperBound..<(head.upperBound + length)]
                bytes = Array(bytes[(head.upperBound + length)...])
                return body
            }
            guard let more = connection.receive() else { return nil }
            bytes += more
        }
    }
}
