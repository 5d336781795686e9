/// Whether the first bytes of a TLS connection are enough to let it into libwebsockets. ``RequestHeadCheck`` decides for
/// connections without TLS.
enum Opening: Equatable {
    /// The client's TLS greeting is there.
    case complete
    case incomplete
    /// A client of a TLS server does not speak TLS.
    case notTLS

    /// The first bytes that are inspected: more than any head or greeting that the server accepts. libwebsockets
    /// refuses what is longer.
    static let byteLimit = 32_768

    /// Inspects the bytes of a TLS connection: a ClientHello in one or more records (RFC 8446, sections 4 and 5.1).
    init(greeting bytes: UnsafeRawBufferPointer) {
        let (recordHeader, handshake, clientHello) = (5, UInt8(22), UInt8(1))
        var index = 0
        /// The bytes of the ClientHello so far, and all of them.
        var (received, wanted): (Int, Int?) = (0, nil)
        var lengthBytes: [UInt8] = []
        while index < bytes.count {
            guard bytes[index] == handshake, bytes.count <= index + 1 || bytes[index + 1] == 3 else {
                self = .notTLS
                return
            }
            guard bytes.count >= index + recordHeader else { break }
            let length = Int(bytes[index + 3]) << 8 | Int(bytes[index + 4])
            guard (1...16_384).contains(length) else {
                self = .notTLS
                return
            }
            let record = bytes[(index + recordHeader)..<min(bytes.count, index + recordHeader + length)]
            for byte in record.prefix(max(0, 4 - lengthBytes.count)) { lengthBytes.append(byte) }
            if let type = lengthBytes.first, type != clientHello {
                self = .notTLS
                return
            }
            received += record.count
            if lengthBytes.count == 4 {
                wanted = 4 + (Int(lengthBytes[1]) << 16 | Int(lengthBytes[2]) << 8 | Int(lengthBytes[3]))
            }
            if let wanted {
                guard wanted <= Self.byteLimit / 2 else {
                    self = .notTLS
                    return
                }
                if received >= wanted {
                    self = .complete
                    return
                }
            }
            index += recordHeader + length
        }
        self = bytes.count < Self.byteLimit ? .incomplete : .notTLS
    }
}
