import CommandSupport
import Foundation
import FoundationNetworking
import SignalingServer

/// A request to a server, with a deadline: a frozen server fails like an absent one.
enum WebRequest {
    /// No step of the request may take longer.
    static let deadline: TimeInterval = 10

    enum Method: String {
        case get = "GET"
        case post = "POST"
        case delete = "DELETE"
    }

    /// - Throws: the error of `URLSession` when there is no answer.
    static func get(
        _ url: URL, header: (name: String, value: String)? = nil
    ) async throws -> (status: HTTPStatus?, body: Data) {
        try await send(.get, url, nil, header)
    }

    /// - Parameter json: the body of the request, if it has one.
    /// - Throws: the error of `URLSession` when there is no answer.
    static func send(
        _ method: Method, _ url: URL, _ json: Data?, _ header: (name: String, value: String)?
    ) async throws -> (status: HTTPStatus?, body: Data) {
        var request = URLRequest(url: url)
        request.httpMethod = method.rawValue
        request.timeoutInterval = deadline
        if let json {
            request.httpBody = json
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        if let header { request.setValue(header.value, forHTTPHeaderField: header.name) }
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
