import SignalingProtocol

/// The folder that one server uses for its state: the command log of its sessions, and the secret of development mode.
final class StateFolder: Sendable {
    private static let secretFile = "development.secret"

    let path: String
    private let files: PrivateFolder

    /// Creates the folder if it does not exist, for its owner only, and locks it.
    init(path: String) throws(StateFolderError) {
        self.path = path
        files = try PrivateFolder(path: path)
    }

    /// The secret of development mode's project: that of the last run, so that clients' tokens stay valid.
    ///
    /// - Parameter new: hex digits, which become the secret if there is none.
    /// - Throws: also when the file has no secret of this form, or others may read it. The file stays, since another
    ///   secret would invalidate all tokens.
    func developmentSecret(orNew new: String) throws(StateFolderError) -> String {
        do throws(FileFault) {
            if let file = try files.open(Self.secretFile, forbidden: 0o077) {
                defer { file.close() }
                return try readSecret(file, byteCount: new.utf8.count)
            }
            try files.replace(Self.secretFile) { file throws(FileFault) in try file.write(Array((new + "\n").utf8)) }
            return new
        } catch {
            throw StateFolderError(
                "cannot use \(path)/\(Self.secretFile): \(error.reason). Run chmod 600 on it, or delete it to create a "
                    + "new secret.")
        }
    }

    private func readSecret(_ file: PrivateFile, byteCount: Int) throws(FileFault) -> String {
        let bytes = try file.read(atMost: byteCount + 2)
        let digits = bytes.prefix(byteCount)
        guard bytes.count == byteCount + 1, bytes.last == UInt8(ascii: "\n"),
            digits.allSatisfy({ Hexadecimal.digit($0) != nil })
        else { throw FileFault("it has no secret that a server wrote") }
        return String(decoding: digits, as: UTF8.self)
    }
}

/// Why the server cannot use a state folder. The description is one line for the operator.
public struct StateFolderError: Error, Sendable, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}
