import EventLoop
import FoundationEssentials
import SignalingCryptography
import SignalingProtocol
import SignalingTransport

/// The test page and the browser library, in memory from the server's start.
struct StaticFiles: Sendable {
    struct File: Sendable {
        let plain: Representation
        /// The same file compressed with gzip, if `scripts/build web` has made it.
        var gzip: Representation?
        let contentType: String
        let cacheControl: String
        /// Whether pages of other origins may load the file. They load the library with a script tag that names this
        /// server.
        let isForEveryOrigin: Bool
    }

    /// The bytes of a file as a response has them.
    struct Representation: Sendable {
        let bytes: [UInt8]
        let entityTag: String

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
            // 128 bits of the hash are enough to tell versions apart.
            entityTag = "\"" + Hexadecimal.text(HashFunction.sha256.digest(of: bytes).prefix(16)) + "\""
        }
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
        "json": "application/json", "ts": "text/plain; charset=utf-8", "txt": "text/plain; charset=utf-8",
        "map": "application/json",
    ]

    private static let bundledPage = "/dist/page.html"
    /// How the names of the scripts of `<signalbox-chat>` begin, which pages of other origins load.
    private static let chatScripts = "/signalbox-"
    private static let gzipEnding = ".gz"

    private let files: [String: File]

    /// No files: the server answers every path with 404.
    init() { files = [:] }

    /// - Throws: ``Unreadable`` when the folder has no `index.html`, or cannot be read.
    init(folder: String) throws {
        let root = URL(filePath: folder, directoryHint: .isDirectory)
        guard let names = try? FileManager.default.subpathsOfDirectory(atPath: folder), names.contains("index.html")
        else {
            throw Unreadable(description: "\(folder) has no index.html. Give the folder web-test-client.")
        }
        try self.init(names: names) { name in
            let file = root.appending(path: name).resolvingSymlinksInPath()
            // To read a named pipe would wait for a writer without an end.
            guard FileStatus(file.path)?.isRegular == true, let data = try? Data(contentsOf: file),
                data.count <= Self.fileByteCount
            else {
                throw Unreadable(
                    description: "\(folder)/\(name) cannot be read, is not a regular file, or is larger than "
                        + "\(Self.fileByteCount) bytes")
            }
            return Array(data)
        }
    }

    /// The files of an archive that is a part of the program; none if it is empty.
    init(archive: TarArchive) {
        let contents = Dictionary(archive.files, uniquingKeysWith: { $1 })
        self.init(names: contents.keys.sorted()) { contents[$0] ?? [] }
    }

    private init(names: [String], bytes: (String) throws -> [UInt8]) rethrows {
        var files: [String: File] = [:]
        for name in names where Self.mayServe(name) {
            let type = Self.contentTypes[String(name.split(separator: ".").last ?? "")]
            guard let type, files.count < Self.fileCount else { continue }
            files["/" + name] = File(bytes: try bytes(name), contentType: type, cache: Self.cache(of: name))
        }
        for name in names where name.hasSuffix(Self.gzipEnding) {
            // Nothing else has this ending: it is in no list of content types.
            files["/" + name.dropLast(Self.gzipEnding.count)]?.gzip = Representation(try bytes(name))
        }
        // The bundled page needs four requests. Without it, the browser loads each module of the page by itself.
        files["/"] = files[Self.bundledPage] ?? files["/index.html"]
        self.files = files
    }

    /// - Parameter path: with its percent escapes, as browsers write the names of some files.
    func file(at path: String) -> File? {
        guard let path = PathText.decoded(path) else { return nil }
        return switch ScriptAddress(path: path) {
        case .library(let bundle): files[bundle.file]
        case .unknown, nil: files[path.hasPrefix(Self.chatScripts) ? "/dist" + path : path]
        }
    }

    /// - Parameters:
    ///   - acceptEncoding: the client's `Accept-Encoding`; without one the file is sent as it is.
    ///   - accept: the client's `Accept`; at an address without a file a browser gets a page.
    func response(
        at path: String, ifNoneMatch: String?, acceptEncoding: String? = nil, accept: String? = nil
    ) -> HTTPResponse {
        guard let file = file(at: path) else {
            // At a wrong address of the script, the response names the right one.
            if ScriptAddress(path: path) == nil, AbsentPage.isWanted(accept: accept) {
                return AbsentPage.response(hasStart: !files.isEmpty)
            }
            return .failure(.notFound, absence(at: path), headers: [("Vary", "Accept")])
        }
        let gzip = Self.acceptsGzip(acceptEncoding) ? file.gzip : nil
        let sent = gzip ?? file.plain
        var headers: [(name: String, value: String)] =
            [
                ("Content-Type", file.contentType), ("Cache-Control", file.cacheControl), ("ETag", sent.entityTag),
                ("Content-Security-Policy", SafetyHeaders.pagePolicy),
            ]
        // RFC 9110, 12.5.5: a shared cache must not give one client's representation to another.
        if file.gzip != nil { headers.append(("Vary", "Accept-Encoding")) }
        if gzip != nil { headers.append(("Content-Encoding", "gzip")) }
        if file.isForEveryOrigin {
            headers.append(("Access-Control-Allow-Origin", "*"))
            headers.append(("Cross-Origin-Resource-Policy", "cross-origin"))
        }
        if let ifNoneMatch, ifNoneMatch == "*" || ifNoneMatch.contains(sent.entityTag) {
            return HTTPResponse(status: HTTPStatus.notModified.rawValue, headers: headers, body: [])
        }
        return HTTPResponse(status: HTTPStatus.ok.rawValue, headers: headers, body: sent.bytes)
    }

    /// Why there is no file at this path.
    private func absence(at path: String) -> String {
        if files.isEmpty {
            return "this server has no page and no browser library: run scripts/build web and build the server again, "
                + "or start it with --web-root"
        }
        return switch ScriptAddress(path: path) {
        case .library: "the library is not bundled: run scripts/build web"
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

    /// How long browsers keep a file, and whether other origins may load it.
    enum Cache {
        /// A browser revalidates the file each time, so that the page and its modules always match each other and the
        /// server; most responses are 304.
        case revalidated
        /// A part of the library. Pages of other origins load it, and may cache it for five minutes.
        case library
        /// The name of the file contains a hash of its content: another content has another name.
        case immutable
    }

    private static func cache(of name: String) -> Cache {
        if name == bundledPage.dropFirst() { return .revalidated }
        if name.hasPrefix("dist/page-") { return .immutable }
        let library = ["dist/", "client/", "opentok/", "text-chat/", "chat/"]
        return library.contains { name.hasPrefix($0) } ? .library : .revalidated
    }

    /// RFC 9110, 12.5.3: `gzip`, `x-gzip` or `*`, unless its weight is 0.
    static func acceptsGzip(_ acceptEncoding: String?) -> Bool {
        guard let acceptEncoding else { return false }
        var weights: [String: Bool] = [:]
        for part in acceptEncoding.lowercased().split(separator: ",") {
            let fields = part.split(separator: ";").map { $0.filter { !$0.isWhitespace } }
            guard let coding = fields.first else { continue }
            weights[coding] = !fields.dropFirst().contains { $0.hasPrefix("q=") && (Double($0.dropFirst(2)) ?? 0) <= 0 }
        }
        return weights["gzip"] ?? weights["x-gzip"] ?? weights["*"] ?? false
    }
}

extension StaticFiles.File {
    fileprivate init(bytes: [UInt8], contentType: String, cache: StaticFiles.Cache) {
        plain = StaticFiles.Representation(bytes)
        self.contentType = contentType
        switch cache {
        case .revalidated:
            cacheControl = "no-cache"
            isForEveryOrigin = false
        case .library:
            cacheControl = "public, max-age=300"
            isForEveryOrigin = true
        case .immutable:
            cacheControl = "public, max-age=31536000, immutable"
            isForEveryOrigin = false
        }
    }
}
