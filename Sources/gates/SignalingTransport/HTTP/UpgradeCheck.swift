import CLibwebsockets

/// Checks an upgrade request before libwebsockets does, which closes a refused one without a response.
enum UpgradeCheck {
    case accept
    /// An unsupported upgrade: serve the request as if it did not ask for one (RFC 9110, section 7.8).
    case serveAsHTTP
    case refuse(HTTPResponse)
    /// `Upgrade` is there, but `Connection` does not name it, or the request is HTTP/1.0: a proxy forwards only a part of
    /// the handshake.
    case upgradeMissing
    /// The headers are freed or the protocol is unknown: close without reading them.
    case hangUp

    /// libwebsockets' buffers for the `Connection` and the `Sec-WebSocket-Protocol` header, and for one name in the
    /// latter. It drops the connection if a value is longer.
    private static let listByteCount = 126
    private static let nameByteCount = 63

    /// - Parameter isForSocket: whether the request's path is that of WebSockets.
    init(_ headers: RequestHeaders, isForSocket: Bool, subprotocol: String) {
        // 4.1.6 calls back even after it has refused an unknown upgrade and freed the headers. Reading the `Upgrade`
        // value that it passes would then read freed memory (CVE-2025-11677), so the length comes from the connection.
        guard headers.length(WSI_TOKEN_UPGRADE) > 0, let upgrade = headers[WSI_TOKEN_UPGRADE] else {
            self = .hangUp
            return
        }
        switch upgrade.lowercased() {
        case "websocket": break
        case "h2c":
            // HTTP/2 has open bugs in 4.1.6, and clients that offer it accept HTTP/1.1.
            self = .serveAsHTTP
            return
        default:
            self = .hangUp
            return
        }
        if let fault = headers.fault {
            self = fault == .upgradeInVersion10 ? .upgradeMissing : .refuse(fault.response)
            return
        }
        guard isForSocket else {
            self = .refuse(.refusal(404, "there is no WebSocket at this path"))
            return
        }
        guard headers.method == .get else {
            self = .refuse(.refusal(405, "a WebSocket begins with GET", headers: [("Allow", "GET")]))
            return
        }
        guard headers.length(WSI_TOKEN_CONNECTION) > Self.listByteCount || Self.namesUpgrade(headers) else {
            self = .upgradeMissing
            return
        }
        if let problem = Self.handshakeProblem(headers) {
            self = .refuse(.refusal(400, problem))
            return
        }
        // RFC 6455, section 4.4: the response names the supported version.
        guard headers[WSI_TOKEN_VERSION] == "13" else {
            self = .refuse(
                .refusal(426, "only WebSocket version 13", headers: [("Sec-WebSocket-Version", "13")] + Self.upgrade))
            return
        }
        let offered = listElements(headers[WSI_TOKEN_PROTOCOL] ?? "")
        guard offered.contains(where: { $0 == subprotocol }),
            offered.allSatisfy({ $0.utf8.count <= Self.nameByteCount })
        else {
            self = .refuse(.refusal(400, "the client must offer the WebSocket sub-protocol \(subprotocol)"))
            return
        }
        self = .accept
    }

    /// How long a client can learn that a handshake arrived without its upgrade: longer than a page waits for a
    /// handshake.
    static let memory = Duration.seconds(30)

    /// The response to a request for the WebSocket's path that is no handshake. Pages cannot see the response to a
    /// handshake, so they ask here, from any origin, whether the server has seen one without its upgrade.
    static func upgradeRequired(isMissing: Bool) -> HTTPResponse {
        HTTPResponse(
            status: 426, contentType: "application/json",
            headers: upgrade + [("Access-Control-Allow-Origin", "*"), ("Cache-Control", "no-store")],
            text: #"{"code":426,"message":"this is a WebSocket","upgradeMissing":\#(isMissing)}"#)
    }

    static let upgrade = [(name: "Upgrade", value: "websocket")]

    private static func namesUpgrade(_ headers: RequestHeaders) -> Bool {
        listElements(headers[WSI_TOKEN_CONNECTION] ?? "").contains { $0.lowercased() == "upgrade" }
    }

    /// The fault by RFC 6455, section 4.2.1, that libwebsockets would not check or not respond to; nil without one.
    private static func handshakeProblem(_ headers: RequestHeaders) -> String? {
        guard headers.length(WSI_TOKEN_CONNECTION) <= listByteCount,
            headers.length(WSI_TOKEN_PROTOCOL) <= listByteCount
        else { return "the handshake's headers are too long" }
        guard headers.length(WSI_TOKEN_HOST) > 0 else { return "the handshake lacks Host" }
        // 16 bytes in Base64.
        guard headers.length(WSI_TOKEN_KEY) == 24 else { return "the handshake's Sec-WebSocket-Key is malformed" }
        return nil
    }
}
