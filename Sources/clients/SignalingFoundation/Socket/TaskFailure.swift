import SignalingProtocol

/// Why a WebSocket could not be opened, in words for the developer of the program.
///
/// It is made of numbers, so that the rules need no `Foundation`: the codes of `NSURLErrorDomain` and the HTTP status
/// are the same on every system.
package struct TaskFailure: Error, Equatable, Sendable {
    package let message: String

    package init(_ message: String) { self.message = message }

    static let withoutSubprotocol = TaskFailure(
        "The server does not support the requested WebSocket sub-protocol. Check the URL.")
    static let closedEarly = TaskFailure("The connection was closed before it was open.")
    static let timedOut = TaskFailure(
        "The server did not answer within \(TaskSocketState.connectTime). "
            + "Check host and port, and that the server is running.")

    /// - Parameters:
    ///   - code: of `NSURLErrorDomain`; nil: an error of another domain.
    ///   - status: the HTTP status of the server's answer, if there was one.
    ///   - description: the system's words.
    package init(code: Int?, status: Int?, description: String) {
        // 101 is the status of a handshake that succeeded.
        if let status, status != 101 {
            self.init(Self.refusal(status))
        } else {
            self.init(code.flatMap(Self.words) ?? "Cannot connect: \(description)")
        }
    }

    /// The error of the `connect` that this failure ends.
    package var signalingError: SignalingError { SignalingError(.connectFailed, message) }

    private static func refusal(_ status: Int) -> String {
        switch status {
        // The server has this status for a handshake without its upgrade, and this client always asks for one.
        case 426:
            "The proxy in front does not pass WebSocket upgrades. Let it forward the headers Upgrade and Connection "
                + "with HTTP/1.1."
        case 300...:
            "The server or a proxy refused the WebSocket with the HTTP status \(status). Check the path in the URL."
        default:
            "The server or a proxy answered the WebSocket's handshake with the HTTP status \(status). Check the URL, and "
                + "that a proxy in front passes WebSocket upgrades."
        }
    }

    private static func words(_ code: Int) -> String? {
        switch code {
        case -1001: timedOut.message  // NSURLErrorTimedOut
        case -1003, -1006:  // NSURLErrorCannotFindHost, NSURLErrorDNSLookupFailed
            "Cannot connect: the name of the host has no address. Check the host in the URL."
        case -1004:  // NSURLErrorCannotConnectToHost
            "Cannot connect: the server refused the connection. Check host and port, and that the server is running."
        case -1005: closedEarly.message  // NSURLErrorNetworkConnectionLost
        case -1009, -1018, -1019, -1020:  // NSURLErrorNotConnectedToInternet, roaming, a call, no data allowed
            "Cannot connect: this device has no network."
        case -1011:  // NSURLErrorBadServerResponse
            "The server refused the WebSocket. Check the path in the URL."
        case -1022:  // NSURLErrorAppTransportSecurityRequiresSecureConnection
            "The system does not let this app connect without TLS. Use https, or add NSAllowsLocalNetworking to the "
                + "app's Info.plist for a server in the local network."
        case -1200:  // NSURLErrorSecureConnectionFailed
            "Cannot connect: the TLS handshake failed. Check that the server uses TLS on this port."
        case -1201, -1204:  // NSURLErrorServerCertificateHasBadDate, …NotYetValid
            "The server's certificate is not trusted: it is not valid today. Check the date of this device and the "
                + "certificate."
        case -1202, -1203:  // NSURLErrorServerCertificateUntrusted, …HasUnknownRoot
            "The server's certificate is not trusted. Check the host in the URL, or trust the certificate's authority."
        case -1205, -1206:  // NSURLErrorClientCertificateRejected, …Required
            "The server asks for a certificate of this client, which it does not have."
        default: nil
        }
    }
}
