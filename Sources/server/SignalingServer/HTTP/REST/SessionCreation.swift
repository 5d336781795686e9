import Glibc
import JSONText
import SignalingProtocol
import SignalingTokens
import SignalingTransport

/// The response to `POST /session/create` in OpenTok's form: a list of one session, in JSON or XML.
struct SessionCreation {
    let session: SessionID
    let apiKey: APIKey
    let createdAt: WallTime

    /// The label in a body, which is a form or JSON; nil without one. OpenTok's SDKs send none.
    static func label(in body: [UInt8]) throws(SignalingError) -> SessionLabel? {
        var parser = DocumentParser()
        let text =
            body.first == UInt8(ascii: "{")
            ? (try? parser.parse(body))?["label"]?.stringValue : FormEncoding.fields(body)?["label"]
        guard let text, !text.isEmpty else { return nil }
        guard let label = SessionLabel(text) else {
            throw SignalingError(.invalidParameter, "\"label\" is not valid: \(SessionLabel.rule)")
        }
        return label
    }

    /// Whether the client reads only XML. JSON is the default, also without an `Accept` header. The exceptions are
    /// OpenTok's own SDKs: those that do not ask for JSON (PHP, Ruby, .NET, older ones for Node and Java) read only XML,
    /// and so do those that use the older path, which send no `Accept`.
    static func wantsXML(path: String, accept: String?, userAgent: String?) -> Bool {
        let accept = accept?.lowercased() ?? ""
        guard !accept.contains("json") else { return false }
        return accept.contains("xml") || isSDK(userAgent) || path.contains("/hl/")
    }

    /// `OpenTok-PHP-SDK/4.2.1 …`, `Opentok-DotNet-SDK/3.0.0`.
    private static func isSDK(_ userAgent: String?) -> Bool {
        guard let product = userAgent?.split(separator: "/").first?.lowercased() else { return false }
        return product.hasPrefix("opentok-") && product.hasSuffix("-sdk")
    }

    /// The SDKs read only `session_id`. The other members are those of OpenTok's response.
    var json: HTTPResponse {
        let key = JSONValue.string(apiKey.rawValue)
        return .json([
            [
                "session_id": .string(session.rawValue), "project_id": key, "partner_id": key,
                "create_dt": .string(date), "session_status": nil, "status_invalid": nil,
                "media_server_hostname": nil, "messaging_server_url": nil, "messaging_url": nil,
                "symphony_address": nil, "properties": nil, "ice_server": nil, "session_segment_id": nil,
                "ice_servers": nil, "ice_credential_expiration": nil,
            ]
        ])
    }

    /// The key and the ID have only letters, digits and `-._`, so they need no escaping.
    var xml: HTTPResponse {
        Self.xml(
            .ok,
            "<sessions><Session><session_id>\(session)</session_id><partner_id>\(apiKey)</partner_id>"
                + "<create_dt>\(date)</create_dt></Session></sessions>")
    }

    static func xmlFailure(_ status: HTTPStatus, _ message: String) -> HTTPResponse {
        let text = message.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
        return xml(status, "<error code=\"\(status.rawValue)\"><errorMessage message=\"\(text)\"/></error>")
    }

    private static func xml(_ status: HTTPStatus, _ element: String) -> HTTPResponse {
        HTTPResponse(
            status: status.rawValue, contentType: "text/xml",
            headers: [("Cache-Control", "no-store")],
            text: "<?xml version=\"1.0\" encoding=\"UTF-8\"?>" + element)
    }

    /// `Sat Nov 21 04:30:00 UTC 2026`, the form of OpenTok's response.
    private var date: String {
        var seconds = time_t(createdAt.milliseconds / 1000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        return TimeForm.text("%a %b %d %H:%M:%S UTC %Y", &parts)
    }
}
