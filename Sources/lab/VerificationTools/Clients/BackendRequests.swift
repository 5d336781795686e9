import Foundation
import SignalingProtocol
import SignalingTokens

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The requests of a backend to a server on this machine.
final class BackendRequests: Sendable {
    struct Answer {
        var status: Int
        var body: Data
        private let response: HTTPURLResponse

        init(_ response: HTTPURLResponse, _ body: Data) {
            (status, self.body, self.response) = (response.statusCode, body, response)
        }

        func header(_ name: String) -> String? { response.value(forHTTPHeaderField: name) }
    }

    private let project: Project
    private let urls = URLSession(configuration: .ephemeral)

    init(project: Project) { self.project = project }

    /// - Parameters:
    ///   - path: behind that of the project.
    ///   - patience: how many seconds to wait for bytes.
    /// - Returns: nil without an answer.
    func send(
        _ method: String, _ path: String, body: String? = nil, port: Int, patience: Double = 15
    ) async -> Answer? {
        var randomness = SystemRandomNumberGenerator()
        let base = "http://127.0.0.1:\(port)/v2/project/\(project.apiKey.rawValue)"
        guard let url = URL(string: base + path),
            let credentials = try? RequestCredentials.make(project: project, now: .current, using: &randomness)
        else { return nil }
        var request = URLRequest(url: url, timeoutInterval: patience)
        request.httpMethod = method
        request.setValue(credentials, forHTTPHeaderField: "X-OPENTOK-AUTH")
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        // A connection that is used again may be lost meanwhile, and the library would repeat the request.
        request.setValue("close", forHTTPHeaderField: "Connection")
        request.httpBody = body.map { Data($0.utf8) }
        if Task.isCancelled { return nil }
        // Foundation crashes when a task is cancelled while it begins a request (TaskRegistry.swift). So a request goes on
        // when the run is given up; its server is killed then.
        let answer = Task { [urls, request] in try? await urls.data(for: request) }
        guard let (data, response) = await answer.value, let response = response as? HTTPURLResponse else { return nil }
        return Answer(response, data)
    }
}
