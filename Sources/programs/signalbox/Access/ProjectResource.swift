import CommandSupport
import FoundationEssentials
import Glibc
import JSONText
import SignalingProtocol
import SignalingServer
import SignalingTokens

/// The REST resources of a project, for a command that has its credentials (REST-1).
struct ProjectResource {
    let server: ServerURL
    let signer: SigningOptions.Signer

    /// Makes a request.
    ///
    /// - Parameter path: behind the project's own, for example `/session/ID/message`.
    /// - Returns: the body of the answer, `null` for an empty one.
    /// - Throws: the exit code for an answer other than a success.
    func request(
        _ path: String, method: WebRequest.Method = .get, query: [(name: String, value: String)] = [],
        body: JSONValue? = nil
    ) async throws -> JSONValue {
        let project = "/v2/project/\(signer.project.apiKey.rawValue)"
        guard let url = server.resource(project + path, query: query) else {
            throw ExitStatus.exit(ExitStatus.usage, "the server's URL \(server.text) cannot be the start of a path.")
        }
        let answer: (status: HTTPStatus?, body: Data)
        do {
            answer = try await WebRequest.send(method, url, body.map { Data($0.encoded()) }, signer.requestHeader())
        } catch {
            throw ExitStatus.exit(
                ExitStatus.unreachable,
                "the server at \(server.text) cannot be reached. Check that it runs, and --server or SIGNALBOX_SERVER.")
        }
        switch answer.status {
        case .noContent: return .null
        case .ok:
            do { return try JSONValue(parsing: answer.body, limits: JSONLimits(depth: 32, byteCount: 16 << 20)) } catch
            {
                throw notSignalbox()
            }
        default: throw refusal(answer.status, answer.body)
        }
    }

    /// What to say of an answer that no Signalbox server gives.
    func notSignalbox() -> any Error {
        ExitStatus.exit(
            ExitStatus.failed,
            "the server at \(server.text) does not answer like a Signalbox server. Check --server or SIGNALBOX_SERVER.")
    }

    private func refusal(_ status: HTTPStatus?, _ body: Data) -> any Error {
        guard let message = WebRequest.refusal(body) else { return notSignalbox() }
        switch status {
        case .badRequest: return ExitStatus.exit(ExitStatus.usage, message)
        case .unauthorized, .forbidden: return ExitStatus.exit(ExitStatus.notPermitted, message)
        default: return ExitStatus.exit(ExitStatus.failed, message)
        }
    }
}
