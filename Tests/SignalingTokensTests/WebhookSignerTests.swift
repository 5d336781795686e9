import JSONText
import SignalingTokens
import TestSupport
import Testing

@Suite("Webhook signatures")
struct WebhookSignerTests {
    @Test("the signature is that of Standard Webhooks", arguments: try Vectors.cases("webhooks/signatures.json"))
    func signatures(_ vector: VectorCase) throws {
        let secret = try #require(vector["secret"]?.stringValue)
        let id = try #require(vector["id"]?.stringValue)
        let timestamp = try #require(vector["timestamp"]?.integerValue)
        let body = try #require(vector["body"]?.stringValue)
        let signer = try #require(WebhookSigner(secret: secret))
        let signature = signer.signature(id: id, timestamp: timestamp, body: Array(body.utf8))
        #expect(signature == vector["signature"]?.stringValue)
    }

    @Test("an empty key and invalid base64 are refused", arguments: ["", "whsec_", "whsec_==", "whsec_no base64!"])
    func bad(_ secret: String) { #expect(WebhookSigner(secret: secret) == nil) }

    @Test("the secret appears in no description and no dump")
    func quiet() throws {
        let signer = try #require(WebhookSigner(secret: "hidden"))
        var dumped = ""
        dump(signer, to: &dumped)
        #expect(!("\(signer)" + String(reflecting: signer) + dumped).contains("hidden"))
    }
}
