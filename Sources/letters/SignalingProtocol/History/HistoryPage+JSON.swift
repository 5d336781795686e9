import JSONText

extension HistoryPage {
    /// Reads the body of an answer by REST (HIS-10).
    ///
    /// - Throws: `unexpectedServerResponse` when it is no page.
    public init(body: JSONValue) throws(SignalingError) {
        guard let object = body.objectValue else {
            throw SignalingError(.unexpectedServerResponse, "the server's answer is not a JSON object")
        }
        do { try self.init(MessageReader(object)) } catch {
            throw SignalingError(
                .unexpectedServerResponse, "the server's answer is malformed: \(error.error.message)")
        }
    }
}
