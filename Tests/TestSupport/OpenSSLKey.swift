import Foundation

/// A new private key of Debian's program `openssl`, so that the repository holds none, and a second implementation
/// judges the signatures.
public struct OpenSSLKey: Sendable {
    /// PKCS#8 in PEM.
    public let pem: String

    public static func rsa(bitCount: Int) throws -> OpenSSLKey {
        try OpenSSLKey("-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:\(bitCount)")
    }

    /// - Parameter options: of `openssl genpkey`.
    public init(_ options: String...) throws {
        pem = String(decoding: try Self.openssl(["genpkey"] + options, input: ""), as: UTF8.self)
    }

    /// Another form of the key.
    ///
    /// - Parameter command: `openssl`'s, such as `pkey`, `-pubout`. It reads the key from its input.
    public func form(_ command: String...) throws -> String {
        String(decoding: try Self.openssl(command, input: pem), as: UTF8.self)
    }

    /// - Parameter options: of `openssl dgst`.
    public func signature(of message: [UInt8], _ options: String...) throws -> [UInt8] {
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try Data(message).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return Array(try Self.openssl(["dgst"] + options + ["-sign", "/dev/stdin", file.path], input: pem))
    }

    private struct Failure: Error { let arguments: [String] }

    private static func openssl(_ arguments: [String], input: String) throws -> Data {
        let (process, standardInput, output) = (Process(), Pipe(), Pipe())
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        process.standardInput = standardInput
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        // A key is smaller than the buffer of a pipe, so this does not wait.
        try standardInput.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try standardInput.fileHandleForWriting.close()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(arguments: arguments) }
        return data
    }
}
