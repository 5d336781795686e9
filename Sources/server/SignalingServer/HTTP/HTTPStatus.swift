/// The HTTP statuses that this package sends, or treats specially when it receives them (RFC 9110, section 15).
package enum HTTPStatus: Int, Sendable {
    case ok = 200
    case noContent = 204
    case notModified = 304
    case badRequest = 400
    case unauthorized = 401
    case forbidden = 403
    case notFound = 404
    case methodNotAllowed = 405
    case gone = 410
    case contentTooLarge = 413
    case unprocessableContent = 422
    case tooManyRequests = 429
    case internalServerError = 500
    case notImplemented = 501
    case serviceUnavailable = 503
    case gatewayTimeout = 504
}
