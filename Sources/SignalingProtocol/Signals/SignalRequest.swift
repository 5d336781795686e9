/// A signal as a client asks for it to be sent.
public struct SignalRequest: Hashable, Sendable {
    /// Absent for an untyped signal. Empty is the same as absent (SIG-2).
    public var type: String? { didSet { if type?.isEmpty == true { type = nil } } }
    public var data: String?
    /// `nil`: everybody in the session, the sender included (SIG-4).
    public var to: ConnectionID?
    /// Delivered to who is connected right now, never kept (SIG-10).
    public var isOnlineOnly: Bool
    /// `data` is the JSON text of a value that was no string; receivers that know such values hand that out (SIG-13).
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

    /// The rules that need no session, in the order of SIG-5: data, to, type.
    ///
    /// - Throws: `tooLong` (413) for data or type over its limit, `invalidParameter` (400) for an empty target or
    ///   characters that a type may not have.
    public func validate() throws(SignalingError) {
        if let data, data.utf16.count > Limits.dataLength {
            throw SignalingError(.tooLong, "data is longer than \(Limits.dataLength) UTF-16 units")
        }
        if let to, to.rawValue.isEmpty {
            throw SignalingError(.invalidParameter, "the target connection is empty")
        }
        if let type {
            // Length first: OpenTok's clients report an over-long type as 413 whatever its characters are.
            if type.utf16.count > Limits.typeLength {
                throw SignalingError(.tooLong, "type is longer than \(Limits.typeLength) characters")
            }
            if !type.utf8.allSatisfy(Self.isTypeCharacter) {
                throw SignalingError(
                    .invalidParameter, "type may hold only letters, digits, and the characters - . _ ~")
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
