/// The path of a script as pages name OpenTok's: `/v2/js/opentok.min.js` and its variants on OpenTok's own hosts, and
/// the same files in its npm packages on a CDN. A page that changes only the host of its script finds the library.
enum ScriptAddress: Hashable {
    /// The library is at this path.
    case library(LibraryBundle)
    /// The path is not one of the library's, but a page that names it probably wants this bundle.
    case unknown(meant: LibraryBundle)

    /// Nil for a path that is not the address of an OpenTok script.
    init?(path: String) {
        var folders = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
        guard let name = folders.popLast() else { return nil }
        if let bundle = LibraryBundle(scriptName: name) {
            if Self.isLibraryFolder(folders) || path == "/opentok.js" {
                self = .library(bundle)
                return
            }
        }
        // The path of a package alone, for which a CDN gives the package's main file.
        if Self.isPackage(Self.withoutCDNFolder(folders + [name])) {
            self = .library(.minified)
            return
        }
        let isScript = name.lowercased().hasSuffix(".js")
        guard isScript, Self.isOpenTokName(name) || Self.isBelowOpenTokFolder(folders) else { return nil }
        self = .unknown(meant: name.contains(".min") ? .minified : .readable)
    }

    /// `/v2/js`, `/v2.24.5/js`, `/webrtc/v2/js`, and `/@opentok/client@2/dist/js`, the last also below `/npm`. The
    /// version does not matter: the server has one.
    private static func isLibraryFolder(_ folders: [String]) -> Bool {
        switch folders.count {
        case 2: isVersion2(folders[0]) && folders[1] == "js"
        case 3: folders[0] == "webrtc" && isVersion2(folders[1]) && folders[2] == "js"
        case 4, 5:
            folders.suffix(2) == ["dist", "js"] && isPackage(withoutCDNFolder(folders.dropLast(2)))
        default: false
        }
    }

    /// `v2`, `v2.6`, `v2.24.5`, `v2.2-plugin-beta`.
    private static func isVersion2(_ folder: String) -> Bool {
        let parts = folder.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        let numbers = parts[0].split(separator: ".", omittingEmptySubsequences: false)
        return numbers[0] == "v2"
            && numbers.dropFirst().allSatisfy { number in !number.isEmpty && number.utf8.allSatisfy(isDigit) }
            && (parts.count == 1 || !parts[1].isEmpty)
    }

    /// `@opentok/client` and `@vonage/client-sdk-video`, with a version behind an `@` or without.
    private static func isPackage(_ parts: [String]) -> Bool {
        guard parts.count == 2 else { return false }
        let name = parts[1].split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        guard name.count == 1 || !name[1].isEmpty else { return false }
        return ["@opentok/client", "@vonage/client-sdk-video"].contains("\(parts[0])/\(name[0])")
    }

    /// One CDN has packages below `/npm`, another at the root.
    private static func withoutCDNFolder(_ folders: [String]) -> [String] {
        folders.first == "npm" ? Array(folders.dropFirst()) : folders
    }

    private static func isOpenTokName(_ name: String) -> Bool {
        ["opentok.", "tb."].contains { name.lowercased().hasPrefix($0) }
    }

    /// Folders of OpenTok's scripts that the library does not have: another version, or another file of a package.
    private static func isBelowOpenTokFolder(_ folders: [String]) -> Bool {
        if folders.first == "webrtc" || isPackage(Array(withoutCDNFolder(folders).prefix(2))) { return true }
        guard let first = folders.first?.utf8, folders.count >= 2, folders[1] == "js" else { return false }
        return first.first == UInt8(ascii: "v") && first.dropFirst().first.map(isDigit) == true
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}

/// The browser library in one file, as `scripts/build web` makes it.
enum LibraryBundle: String, Hashable {
    case readable = "opentok.js"
    case minified = "opentok.min.js"

    /// OpenTok's script is also called `TB`, its older name.
    init?(scriptName: String) {
        switch scriptName {
        case "opentok.js", "TB.js": self = .readable
        case "opentok.min.js", "TB.min.js": self = .minified
        default: return nil
        }
    }

    /// The file in the web root.
    var file: String { "/dist/" + rawValue }

    /// The address to recommend.
    var address: String { "/v2/js/" + rawValue }
}
