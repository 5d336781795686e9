import Foundation
import FoundationNetworking
import SignalingServer

/// A request to a server, with a deadline: a frozen server fails like an absent one.
enum WebRequest {
    /// No step of the request may take longer.
    static let deadline: TimeInterval = 10

    /// - Throws: the error of `URLSession` when there is no answer.
    static func get(
        _ url: URL, header: (name: String, value: String)? = nil
    ) async throws -> (status: HTTPStatus?, body: Data) {
        var request = URLRequest(url: url)
        if let header { request.setValue(header.value, forHTTPHeaderField: header.name) }
        return try await send(request)
    }

    /// - Throws: the error of `URLSession` when there is no answer.
    static func post(
        _ json: Data, to url: URL, header: (name: String, value: String)
    ) async throws -> (status: HTTPStatus?, body: Data) {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.httpBody = json
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.setValue(header.value, forHTTPHeaderField: header.name)
        return try await send(request)
    }

    private static func send(_ request: URLRequest) async throws -> (status: HTTPStatus?, body: Data) {
        var request = request
        request.timeoutInterval = deadline
        let (body, response) = try await URLSession.shared.data(for: request)
        return ((response as? HTTPURLResponse).flatMap { HTTPStatus(rawValue: $0.statusCode) }, body)
    }

    /// The message of a Signalbox server's refusal; `nil` if another server answered.
    static func refusal(_ body: Data) -> String? {
        struct Refusal: Decodable {
            let code: Int
            let message: String
        }
        return (try? JSONDecoder().decode(Refusal.self, from: body)).map { Printable.text($0.message) }
    }
}
