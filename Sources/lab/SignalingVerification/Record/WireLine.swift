import JSONText
import SignalingProtocol

/// A line as it travels between a client and a server, read without the product's decoders.
///
/// The judge must not share a decoder with the program that it judges: a fault in it would hide itself.
struct WireLine {
    private let object: JSONObject
    let byteCount: Int

    /// nil for a line that is not a JSON object.
    init?(_ bytes: some Collection<UInt8>) {
        guard case .object(let object)? = try? JSONValue(parsing: bytes) else { return nil }
        self.object = object
        byteCount = bytes.count
    }

    init(_ object: JSONObject) {
        self.object = object
        byteCount = 0
    }

    /// The request's operation; nil for a line from the server.
    var op: String? { text("op") }
    /// The event's name; nil for a line from a client.
    var ev: String? { text("ev") }
    var id: Int64? { number("id") }
    var seq: Int? { position("seq") }
    /// A member that names an event; nil if no event can have this seq.
    func position(_ name: String) -> Int? {
        number(name).flatMap { $0 >= 0 && $0 <= Self.greatestSeq ? Int($0) : nil }
    }
    private static let greatestSeq: Int64 = 1 << 53

    func text(_ name: String) -> String? { object[name]?.stringValue }
    func number(_ name: String) -> Int64? { object[name]?.integerValue }
    func isTrue(_ name: String) -> Bool { object[name]?.boolValue ?? false }
    func member(_ name: String) -> WireLine? { object[name]?.objectValue.map { WireLine($0) } }
    func texts(_ name: String) -> [String]? { object[name]?.arrayValue?.compactMap(\.stringValue) }
    func list(_ name: String) -> [WireLine]? {
        object[name]?.arrayValue?.compactMap { $0.objectValue.map { WireLine($0) } }
    }
}
