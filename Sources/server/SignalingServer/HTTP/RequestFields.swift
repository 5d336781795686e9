import JSONText
import SignalingProtocol
import SignalingTransport

/// Reads the bodies of requests.
struct RequestFields: ~Copyable {
    private var parser = DocumentParser(
        limits: JSONLimits(
            depth: Limits.jsonDepth, byteCount: Limits.bodyByteCount, valueCount: Limits.bodyValueCount))

    mutating func signalRequest(_ body: [UInt8]) throws(SignalingError) -> SignalRequest {
        let object = try object(body)
        // A misspelt member would otherwise reach every client as a signal without content. An empty object means one: so
        // do OpenTok's SDKs send it.
        guard object.isEmpty || object["type"] != nil || object["data"] != nil else {
            throw SignalingError(
                .invalidParameter,
                "the signal has neither \"type\" nor \"data\": put the text into \"data\", and its kind into \"type\"")
        }
        return SignalRequest(type: try object.text("type"), data: try object.text("data"))
    }

    mutating func object(_ body: [UInt8]) throws(SignalingError) -> JSONObject {
        let value: JSONValue
        do { value = try parser.parse(body) } catch {
            throw SignalingError(.invalidParameter, "the body is not JSON: \(error)")
        }
        guard let object = value.objectValue else {
            throw SignalingError(.invalidParameter, "the body is not a JSON object")
        }
        return object
    }
}

extension JSONObject {
    func required(_ name: String) throws(SignalingError) -> String {
        guard let text = try text(name) else {
            throw SignalingError(.invalidParameter, "\"\(name)\" is missing")
        }
        return text
    }

    /// REST-2: `null` means absent. OpenTok's SDKs for Java and .NET write every member that a signal lacks as `null`.
    func text(_ name: String) throws(SignalingError) -> String? {
        guard let member = self[name], !member.isNull else { return nil }
        guard let text = member.stringValue else {
            throw SignalingError(.invalidParameter, "\"\(name)\" must be a string")
        }
        return text
    }
}

extension HistoryRequest {
    /// - Parameter value: of a name in the query.
    init(query value: (String) -> String?) throws(SignalingError) {
        func integer(_ name: String) throws(SignalingError) -> Int64? {
            guard let text = value(name) else { return nil }
            guard let number = Int64(text) else {
                throw SignalingError(.invalidParameter, "\"\(name)\" must be an integer")
            }
            return number
        }
        let limit = try integer("limit") ?? Int64(Self.standardLimit)
        guard limit >= 1 else { throw SignalingError(.invalidParameter, "\"limit\" must be 1 or more") }
        guard
            let position = Position(
                before: try integer("before"), after: try integer("after"), changedAfter: try integer("changedAfter"))
        else {
            throw SignalingError(.invalidParameter, "use one of \"before\", \"after\" and \"changedAfter\"")
        }
        self.init(position, limit: Int(clamping: limit))
    }
}

extension HTTPExchange {
    /// What a request for a page of the history asks for (HIS-10).
    func historyRequest() throws(SignalingError) -> HistoryRequest { try HistoryRequest(query: queryValue) }

    /// What a request to erase several messages names (HIS-10).
    func erasure() throws(SignalingError) -> Erasure {
        switch (try seq("through"), queryValue("user")) {
        case (let through?, nil): return .through(through)
        case (nil, let user?) where UserID.isValid(user): return .user(UserID(user))
        case (nil, .some): throw SignalingError(.invalidParameter, UserID.requirement)
        case (nil, nil), (.some, .some):
            throw SignalingError(
                .invalidParameter,
                "use \"through\" with the seq of the last message to erase, or \"user\" with a user ID")
        }
    }

    /// `true` or `false` in the query; false without it.
    func flag(_ name: String) throws(SignalingError) -> Bool {
        guard let text = queryValue(name) else { return false }
        guard let flag = Bool(text) else {
            throw SignalingError(.invalidParameter, "\"\(name)\" must be true or false")
        }
        return flag
    }

    /// A number in the query, the seq of a message.
    func seq(_ name: String) throws(SignalingError) -> Seq? {
        guard let text = queryValue(name) else { return nil }
        guard let seq = Seq(digits: text) else {
            throw SignalingError(.invalidParameter, "\"\(name)\" must be a number, the seq of a message")
        }
        return seq
    }
}
