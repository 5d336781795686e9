import JSONText

/// Reads the members of one message. Its errors name the member and the type that it must have.
///
/// An absent optional member is `nil`. A member of another type, `null` included, is an error (WIRE-7).
struct MessageReader {
    private let object: JSONObject
    /// The path of this object inside the message, as a prefix for member names in error messages.
    private let path: String
    let id: RequestID?

    init(_ object: JSONObject) {
        self.object = object
        path = ""
        id = object["id"]?.integerValue.map { RequestID($0) }
    }

    private init(_ object: JSONObject, path: String, id: RequestID?) {
        self.object = object
        self.path = path
        self.id = id
    }

    func error(_ message: String) -> ClientMessageError {
        ClientMessageError(id: id, SignalingError(.invalidParameter, message))
    }

    /// The error of a well-formed line, with a value that no request may have (WIRE-9).
    func refusal(_ message: String) -> ClientMessageError {
        ClientMessageError(id: id, SignalingError(.invalidParameter, message), isMalformed: false)
    }

    func requiredID() throws(ClientMessageError) -> RequestID {
        guard let id else { throw error("\"id\" must be an integer") }
        return id
    }

    func string(_ name: String) throws(ClientMessageError) -> String? {
        guard let value = object[name] else { return nil }
        guard let text = value.stringValue else { throw error("\"\(path)\(name)\" must be a string") }
        return text
    }

    func requiredString(_ name: String) throws(ClientMessageError) -> String {
        guard let text = try string(name) else { throw error("\"\(path)\(name)\" is missing") }
        return text
    }

    func bool(_ name: String) throws(ClientMessageError) -> Bool? {
        guard let value = object[name] else { return nil }
        guard let truth = value.boolValue else { throw error("\"\(path)\(name)\" must be true or false") }
        return truth
    }

    /// The member's value; `nil` when it is absent or not an integer.
    func integer(_ name: String) -> Int64? { object[name]?.integerValue }

    func requiredInteger(_ name: String) throws(ClientMessageError) -> Int64 {
        guard let number = object[name]?.integerValue else {
            throw error("\"\(path)\(name)\" must be an integer")
        }
        return number
    }

    func optionalInteger(_ name: String) throws(ClientMessageError) -> Int64? {
        object[name] == nil ? nil : try requiredInteger(name)
    }

    func requiredCount(_ name: String) throws(ClientMessageError) -> Int {
        guard let number = Int(exactly: try requiredInteger(name)), number >= 0 else {
            throw refusal("\"\(path)\(name)\" must be 0 or more")
        }
        return number
    }

    func count(_ name: String) throws(ClientMessageError) -> Int? {
        object[name] == nil ? nil : try requiredCount(name)
    }

    /// A number of things of which there is at least one.
    func positiveCount(_ name: String) throws(ClientMessageError) -> Int? {
        guard let number = try optionalInteger(name) else { return nil }
        guard number >= 1 else { throw refusal("\"\(path)\(name)\" must be 1 or more") }
        return Int(clamping: number)
    }

    /// A sequence number. `Int64.max` is refused, so that adding 1 to a peer's number cannot overflow.
    func requiredSeq(_ name: String) throws(ClientMessageError) -> Seq {
        let number = try requiredInteger(name)
        guard (0..<Int64.max).contains(number) else { throw refusal("\"\(path)\(name)\" must be 0 or more") }
        return Seq(number)
    }

    func seq(_ name: String) throws(ClientMessageError) -> Seq? {
        object[name] == nil ? nil : try requiredSeq(name)
    }

    /// A seq that a request names. It goes into the log, which can keep no greater one than there can be (HIS-3): a command
    /// that cannot be read again would cost the whole session.
    func namedSeq(_ name: String) throws(ClientMessageError) -> Seq? {
        let seq = try seq(name)
        guard seq ?? .zero <= .greatest else { throw refusal("\"\(path)\(name)\" is greater than any seq") }
        return seq
    }

    func object(_ name: String) throws(ClientMessageError) -> MessageReader? {
        guard let value = object[name] else { return nil }
        guard let inner = value.objectValue else { throw error("\"\(path)\(name)\" must be an object") }
        return MessageReader(inner, path: "\(path)\(name).", id: id)
    }

    func requiredObject(_ name: String) throws(ClientMessageError) -> MessageReader {
        guard let inner = try object(name) else { throw error("\"\(path)\(name)\" is missing") }
        return inner
    }

    func requiredObjects(_ name: String) throws(ClientMessageError) -> [MessageReader] {
        guard let values = object[name]?.arrayValue else { throw error("\"\(path)\(name)\" must be an array") }
        var readers: [MessageReader] = []
        for value in values {
            guard let inner = value.objectValue else { throw error("\"\(path)\(name)\" must hold objects only") }
            readers.append(MessageReader(inner, path: "\(path)\(name)[].", id: id))
        }
        return readers
    }

    /// The objects of a list; none for an absent member.
    func optionalObjects(_ name: String) throws(ClientMessageError) -> [MessageReader] {
        isAbsent(name) ? [] : try requiredObjects(name)
    }

    func strings(_ name: String) throws(ClientMessageError) -> [String]? {
        guard let value = object[name] else { return nil }
        guard let values = value.arrayValue else { throw error("\"\(path)\(name)\" must be an array") }
        let texts = values.compactMap(\.stringValue)
        guard texts.count == values.count else { throw error("\"\(path)\(name)\" must hold strings only") }
        return texts
    }

    func isAbsent(_ name: String) -> Bool { object[name] == nil }

    func isNull(_ name: String) -> Bool { object[name]?.isNull == true }
}
