import SignalingClient
import SignalingProtocol
import Synchronization

/// One client of a ``LoadTest``: a session of the library, whose steps go to the record.
final class LoadMember: Sendable {
    private static let type = "bench"

    private let session: Session
    private let token: String

    init(apiKey: String, sessionId: SessionID, token: String, target: LoadTarget, record: LoadRecord) {
        self.token = token
        session = Session(
            apiKey: apiKey, sessionId: sessionId.rawValue, server: target.server,
            options: .init(trustedCertificatesFile: target.trustedCertificatesFile))
        let calls = Mutex<[UInt64: Duration]>([:])
        session.keepJournal { entry in
            switch entry {
            case .sent(let call, let request):
                guard let plannedAt = Self.plannedMoment(of: request.data) else { return }
                calls.withLock { $0[call] = plannedAt }
            case .answered(let call, let result):
                guard let plannedAt = calls.withLock({ $0.removeValue(forKey: call) }) else { return }
                switch result {
                case .success: record.acknowledged(plannedAt: plannedAt)
                case .failure(let error): record.refused(plannedAt: plannedAt, error)
                }
            case .heard(.signal(let signal)):
                guard signal.type == Self.type, let plannedAt = Self.plannedMoment(of: signal.data) else { return }
                record.delivered(plannedAt: plannedAt)
            case .heard(.reconnected): record.reconnected()
            case .heard(.disconnected): record.disconnected()
            case .opening, .welcomed, .heard: break
            }
        }
    }

    func connect() async throws(SignalingError) { try await session.connect(token: token) }

    func disconnect() async { await session.disconnect() }

    /// Sends a signal to the room without waiting for its answer.
    func send(plannedAt: Duration, byteCount: Int) {
        var data = "\(plannedAt.wholeNanoseconds) "
        data += String(repeating: ".", count: max(0, byteCount - data.utf8.count))
        session.post(SignalRequest(type: Self.type, data: data))
    }

    /// A signal's data begins with its planned moment.
    private static func plannedMoment(of data: String?) -> Duration? {
        guard let data else { return nil }
        var nanoseconds: Int64 = 0
        for byte in data.utf8 {
            if byte == UInt8(ascii: " ") { return .nanoseconds(nanoseconds) }
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte), nanoseconds < Int64.max / 100 else {
                return nil
            }
            nanoseconds = nanoseconds * 10 + Int64(byte - UInt8(ascii: "0"))
        }
        return nil
    }
}

/// The server under load.
package struct LoadTarget: Sendable {
    package var server: String
    package var trustedCertificatesFile: String?

    package init(server: String, trustedCertificatesFile: String? = nil) {
        self.server = server
        self.trustedCertificatesFile = trustedCertificatesFile
    }
}
