import Crypto
import Foundation
import SignalingProtocol
import SignalingTransport

/// The test page and the browser library, read into memory when the server starts.
struct StaticFiles: Sendable {
    struct File: Sendable {
        let bytes: [UInt8]
        let contentType: String
        let entityTag: String
        let cacheControl: String
        /// Whether pages of other origins may load the file. They load the library with a script tag that names this
        /// server.
        let isForEveryOrigin: Bool
    }

    /// Why the server cannot serve a folder.
    struct Unreadable: Error, CustomStringConvertible {
        let description: String
    }

    /// The maximum size of a file in bytes. These bounds protect against a folder that is named by mistake.
    private static let fileByteCount = 8 * 1_048_576
    private static let fileCount = 500

    private static let contentTypes = [
        "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8",
        "css": "text/css; charset=utf-8", "svg": "image/svg+xml", "png": "image/png", "ico": "image/x-icon",
        "json": "application/json", "ts": "text/plain; charset=utf-8", "map": "application/json",
    ]

    private let files: [String: File]

    /// No files: the server answers every path with 404.
    init() { files = [:] }

    /// - Throws: ``Unreadable`` when the folder has no `index.html`, or cannot be read.
    init(folder: String) throws {
        let root = URL(filePath: folder, directoryHint: .isDirectory)
        var files: [String: File] = [:]
        guard let names = FileManager.default.subpaths(atPath: folder), names.contains("index.html") else {
            throw Unreadable(description: "\(folder) has no index.html. Give the folder web-test-client.")
        }
        for name in names where Self.mayServe(name) {
            let type = Self.contentTypes[String(name.split(separator: ".").last ?? "")]
            guard let type, files.count < Self.fileCount else { continue }
            let url = root.appending(path: name)
            guard let data = try? Data(contentsOf: url), data.count <= Self.fileByteCount else {
                throw Unreadable(
                    description: "\(folder)/\(name) cannot be read, or is larger than \(Self.fileByteCount) bytes")
            }
            files["/" + name] = File(bytes: Array(data), contentType: type, isLibrary: Self.isLibrary(name))
        }
        files["/"] = files["/index.html"]
        self.files = files
    }

    func file(at path: String) -> File? {
        switch ScriptAddress(path: path) {
        case .library(let bundle): files[bundle.file]
        case .unknown, nil: files[path]
        }
    }

    func response(at path: String, ifNoneMatch: String?) -> HTTPResponse {
        guard let file = file(at: path) else { return .failure(.notFound, Self.absence(at: path)) }
        var headers: [(name: String, value: String)] =
            [
                ("Content-Type", file.contentType), ("Cache-Control", file.cacheControl), ("ETag", file.entityTag),
                ("Content-Security-Policy", SafetyHeaders.pagePolicy),
            ]
        if file.isForEveryOrigin {
            headers.append(("Access-Control-Allow-Origin", "*"))
            headers.append(("Cross-Origin-Resource-Policy", "cross-origin"))
        }
        if let ifNoneMatch, ifNoneMatch == "*" || ifNoneMatch.contains(file.entityTag) {
            return HTTPResponse(status: HTTPStatus.notModified.rawValue, headers: headers, body: [])
        }
        return HTTPResponse(status: HTTPStatus.ok.rawValue, headers: headers, body: file.bytes)
    }

    /// Why there is no file at this path.
    private static func absence(at path: String) -> String {
        switch ScriptAddress(path: path) {
        case .library: "the library is not bundled: run scripts/bundle-web"
        case .unknown(let bundle): "there is no script at this path; the browser library is at \(bundle.address)"
        case nil: "there is nothing at this path"
        }
    }

    /// The folder also has tests and hidden files, which the server does not serve.
    private static func mayServe(_ name: String) -> Bool {
        !name.split(separator: "/").contains {
            $0.hasPrefix(".") || $0 == "test" || $0 == "test-support" || $0 == "node_modules"
        }
    }

    private static func isLibrary(_ name: String) -> Bool {
        ["dist/", "opentok/", "text-chat/"].contains { name.hasPrefix($0) }
    }
}

extension StaticFiles.File {
    fileprivate init(bytes: [UInt8], contentType: String, isLibrary: Bool) {
        self.bytes = bytes
        self.contentType = contentType
        // 128 bits of the hash are enough to tell versions apart.
        entityTag = "\"" + Hexadecimal.text(SHA256.hash(data: bytes).prefix(16)) + "\""
        // A browser revalidates the page and its modules each time, so that they always match each other and the
        // server; most responses are 304. Pages of other origins may cache the library for five minutes.
        cacheControl = isLibrary ? "public, max-age=300" : "no-cache"
        isForEveryOrigin = isLibrary
    }
}
