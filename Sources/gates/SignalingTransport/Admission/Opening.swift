/// Whether the first bytes of a connection are enough to let it into libwebsockets.
enum Opening: Equatable {
    /// The request's head or the client's TLS greeting is there, or libwebsockets can judge the bytes as they are.
    case complete
    case incomplete
    /// A client of a TLS server does not speak TLS.
    case notTLS

    /// The first bytes that are inspected: more than any head or greeting that the server accepts. libwebsockets
    /// refuses what is longer.
    static let byteLimit = 32_768

    /// Inspects the bytes of an HTTP connection: a head ends with an empty line (RFC 9112, section 2.1).
    init(request bytes: UnsafeRawBufferPointer) {
        guard bytes.count < Self.byteLimit else {
            self = .complete
            return
        }
        // Empty lines before a request are ignored (RFC 9112, section 2.2).
        var index = 0
        while index < bytes.count, Self.isLineEnd(bytes[index]) { index += 1 }
        // What does not begin with a method, such as TLS, is no request: libwebsockets closes it.
        while index < bytes.count, bytes[index] != UInt8(ascii: " ") {
            guard Self.isTokenByte(bytes[index]) else {
                self = .complete
                return
            }
            index += 1
        }
        var isLineEmpty = false
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\n"):
                if isLineEmpty {
                    self = .complete
                    return
                }
                isLineEmpty = true
            // libwebsockets accepts lines that end with LF alone.
            case UInt8(ascii: "\r"): break
            default: isLineEmpty = false
            }
            index += 1
        }
        self = .incomplete
    }

    /// The target of a request, without its query.
    static func target(of request: UnsafeRawBufferPointer) -> String? {
        let line = request.prefix { !isLineEnd($0) }
        let words = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
        guard words.count == 3 else { return nil }
        return String(decoding: words[1].prefix { $0 != UInt8(ascii: "?") }, as: UTF8.self)
    }

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

    /// RFC 9110, section 5.6.2.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    private static func isLineEnd(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\r") || byte == UInt8(ascii: "\n") }
}
