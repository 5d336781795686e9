import JSONText
import SignalingProtocol
import SignalingTransport

extension HTTPResponse {
    /// `Content-Type` is exactly `application/json`: with a charset behind it OpenTok's Python SDK takes the body for XML.
    static func json(_ value: JSONValue, status: Int = 200, headers: [(name: String, value: String)] = [])
        -> HTTPResponse
    {
        HTTPResponse(
            status: status,
            headers: [("Content-Type", "application/json"), ("Cache-Control", "no-store")] + Self.safety + headers,
            body: value.encoded())
    }

    /// `{"code":404,"message":"…"}`: a shape that all of OpenTok's SDKs can show.
    static func failure(_ status: Int, _ message: String, headers: [(name: String, value: String)] = []) -> HTTPResponse
    {
        json(["code": .integer(Int64(status)), "message": .string(message)], status: status, headers: headers)
    }

    /// A refusal of the session's or the tokens', as REST says it (`docs/PROTOCOL.md`, section 13).
    static func failure(_ error: SignalingError) -> HTTPResponse {
        let status =
            switch error.code {
            case .invalidParameter, .invalidSession: 400
            case .permissionDenied, .authenticationError: 403
            case .notFound, .badTarget: 404
            case .tooLong: 413
            case .rateLimited: 429
            case .notConnected: 503
            default: 500
            }
        return failure(status, error.message)
    }

    /// A list as Vonage's REST interface has them.
    static func list(_ items: [JSONValue]) -> HTTPResponse {
        .json(["count": .integer(Int64(items.count)), "items": .array(items)])
    }

    static var noContent: HTTPResponse { HTTPResponse(status: 204, headers: Self.safety, body: []) }

    /// Said with every answer.
    static let safety: [(name: String, value: String)] = [
        ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
    ]
}
