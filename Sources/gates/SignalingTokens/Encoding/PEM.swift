import FoundationEssentials

/// Text with one block of PEM (RFC 7468), in lines of 64 characters. Text around it is ignored.
enum PEM {
    /// The decoded block. Returns `nil` for text with no block, or with several: a file with a private key beside the
    /// public one must not be accepted.
    static func content(of text: String) -> [UInt8]? {
        let block =
            #/
            -----BEGIN\ ([^\-\n]*)-----\r?\n
            ((?:[A-Za-z0-9+\/=]{64}\r?\n)*[A-Za-z0-9+\/=]{1,64}\r?\n)
            -----END\ \1-----
            /#.matchingSemantics(.unicodeScalar)
        guard text.ranges(of: "-----BEGIN ").count == 1, let match = text.firstMatch(of: block) else { return nil }
        return Data(base64Encoded: String(match.2.filter { !$0.isNewline })).map(Array.init)
    }
}
