import CommandSupport
import FoundationEssentials
import OutgoingHTTP
import SignalingServer

/// A request to a server, with a deadline: a frozen server fails like an absent one.
enum WebRequest {
    enum Method: String {
        case get = "GET"
        case post = "POST"
        case delete = "DELETE"
    }

    /// - Throws: ``HTTPRequest/Failure`` when there is no answer.
    static func get(
        _ url: URL, header: (name: String, value: String)? = nil
    ) async throws -> (status: HTTPStatus?, body: Data) {
        try await send(.get, url, nil, header)
    }

    /// - Parameter json: the body of the request, if it has one.
    /// - Throws: ``HTTPRequest/Failure`` when there is no answer.
    static func send(
        _ method: Method, _ url: URL, _ json: Data?, _ header: (name: String, value: String)?
    ) async throws -> (status: HTTPStatus?, body: Data) {
        var request = HTTPRequest(url: url.absoluteString)
        request.method = method.rawValue
        request.body = json.map { [UInt8]($0) }
        request.headers = (json == nil ? [] : [("Content-Type", "application/json")]) + (header.map { [$0] } ?? [])
        let response = try await request.send()
        return (HTTPStatus(rawValue: response.status), Data(response.body))
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
