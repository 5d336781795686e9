import JSONText
import SignalingCore
import SignalingProtocol
import SignalingTransport

extension HTTPResponse {
    /// `Content-Type` is exactly `application/json`: with a charset, OpenTok's Python SDK parses the body as XML.
    static func json(
        _ value: JSONValue, status: HTTPStatus = .ok, headers: [(name: String, value: String)] = []
    ) -> HTTPResponse {
        json(encoded: value.encoded(), status: status, headers: headers)
    }

    /// A response whose JSON another thread has written.
    static func json(
        encoded body: [UInt8], status: HTTPStatus = .ok, headers: [(name: String, value: String)] = []
    ) -> HTTPResponse {
        HTTPResponse(
            status: status.rawValue,
            headers: [("Content-Type", "application/json"), ("Cache-Control", "no-store")] + headers, body: body)
    }

    /// `{"code":404,"message":"…"}`, which all of OpenTok's SDKs can show.
    static func failure(
        _ status: HTTPStatus, _ message: String, headers: [(name: String, value: String)] = []
    ) -> HTTPResponse {
        json(
            ["code": .integer(Int64(status.rawValue)), "message": .string(message)], status: status, headers: headers)
    }

    /// The response for an error of a session or a token (`docs/PROTOCOL.md`, section 14).
    static func failure(_ error: SignalingError) -> HTTPResponse {
        let status: HTTPStatus =
            switch error.code {
            case .invalidParameter, .invalidSession: .badRequest
            case .permissionDenied, .authenticationError: .forbidden
            case .notFound, .badTarget: .notFound
            case .tooLong: .contentTooLarge
            case .rateLimited: .tooManyRequests
            case .notConnected: .serviceUnavailable
            default: .internalServerError
            }
        return failure(status, error.message)
    }

    /// The response to a command that a backend or an operator has submitted.
    static func answer(to outcome: SessionOutcome) -> HTTPResponse {
        switch outcome {
        case .refused(let error): failure(error)
        case .unavailable(mayBeCarriedOut: false):
            failure(.serviceUnavailable, "the session cannot be served at present; repeat the request")
        case .unavailable(mayBeCarriedOut: true):
            failure(.gatewayTimeout, "the request may have been carried out, or not")
        case .moderated(let action, _): .json(["seq": .integer(action.seq.rawValue)])
        case .signalled, .changed, .reacted, .marked, .reactors, .announced, .forceDisconnected, .erased, .restrictions,
            .joined,
            .wasForceDisconnected, .superseded, .done, .refreshed:
            noContent
        }
    }

    /// The response to a command that is not decided in time: it cannot be taken back (REST-2).
    static var undecided: HTTPResponse { answer(to: .unavailable(mayBeCarriedOut: true)) }

    /// A list in the form of Vonage's REST interface.
    static func list(_ items: [JSONValue]) -> HTTPResponse {
        .json(["count": .integer(Int64(items.count)), "items": .array(items)])
    }

    static var noContent: HTTPResponse { HTTPResponse(status: HTTPStatus.noContent.rawValue) }
}
