/// A signal as a client or REST asks to send it.
public struct SignalRequest: Hashable, Sendable {
    /// `nil` for an untyped signal. An empty type becomes `nil` (SIG-2).
    public var type: String? { didSet { if type?.isEmpty == true { type = nil } } }
    public var data: String?
    /// The target connection; `nil` for a broadcast to all connections, the sender included (SIG-4).
    public var to: ConnectionID?
    /// Whether to deliver the signal only to clients that are connected now, and keep nothing (SIG-10).
    public var isOnlineOnly: Bool
    /// Whether `data` is the JSON text of a value other than a string; not checked. A browser passes that value to its
    /// application (SIG-13).
    public var isJSON: Bool

    public init(
        type: String? = nil, data: String? = nil, to: ConnectionID? = nil, isOnlineOnly: Bool = false,
        isJSON: Bool = false
    ) {
        self.type = type?.isEmpty == true ? nil : type
        self.data = data
        self.to = to
        self.isOnlineOnly = isOnlineOnly
        self.isJSON = isJSON
    }

    /// Checks the rules that need no session, in the order of SIG-5: data, to, type.
    ///
    /// - Throws: `tooLong` for data over ``Limits/dataLength`` or a type over ``Limits/typeLength``, `invalidParameter`
    ///   for an empty target or a type with other characters than ASCII letters, digits and `-._~`.
    public func validate() throws(SignalingError) {
        // Text has at most as many UTF-16 units as bytes of UTF-8, which are counted already.
        if let data, data.utf8.count > Limits.dataLength, data.utf16.count > Limits.dataLength {
            throw SignalingError(
                .tooLong, "\"data\" has \(data.utf16.count) UTF-16 units, and at most \(Limits.dataLength) are allowed")
        }
        if let to, to.rawValue.isEmpty {
            throw SignalingError(
                .invalidParameter, "\"to\" is empty: name a connection, or leave it out to send to all")
        }
        if let type {
            // Length first: OpenTok's clients report an over-long type as 413 whatever its characters are.
            if type.utf16.count > Limits.typeLength {
                throw SignalingError(
                    .tooLong,
                    "\"type\" has \(type.utf16.count) characters, and at most \(Limits.typeLength) are allowed")
            }
            if !type.utf8.allSatisfy(Self.isTypeCharacter) {
                throw SignalingError(
                    .invalidParameter, "\"type\" may hold only letters, digits, and the characters - . _ ~")
            }
        }
    }

    private static func isTypeCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
