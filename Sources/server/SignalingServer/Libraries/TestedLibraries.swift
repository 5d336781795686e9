import OutgoingHTTP
import SignalingRedis
import SignalingSQLite
import SignalingTransport

#if SIGNALBOX_JSONC
    import JSONC
#endif

/// The C libraries of the server, and the versions of them that this version of Signalbox was tested with.
///
/// docs/operations/install.md has the same table; a test compares them.
package enum TestedLibraries {
    package struct Library: Equatable, Sendable {
        package let name: String
        /// The tested versions.
        package let versions: [String]
        /// The version that the process uses.
        package let present: String
    }

    package static var all: [Library] {
        var all = [
            Library(name: "libwebsockets", versions: ["4.1.6", "4.3.5"], present: LibwebsocketsVersion.text),
            Library(name: "SQLite", versions: ["3.40.1", "3.46.1"], present: SQLiteVersion.text),
            Library(name: "hiredis", versions: ["0.14.1", "1.2.0"], present: HiredisVersion.text),
            Library(name: "libcurl", versions: ["7.88.1", "8.14.1"], present: LibcurlVersion.text),
        ]
        #if SIGNALBOX_JSONC
            all.insert(Library(name: "json-c", versions: ["0.16", "0.18"], present: JSONCVersion.text), at: 1)
        #endif
        return all
    }

    /// One sentence about all libraries with another version; nil if there is none.
    package static func warning(about libraries: [Library]) -> String? {
        let others = libraries.filter { !$0.versions.contains($0.present) }.map {
            "\($0.name) \($0.present) (tested: \($0.versions.joined(separator: ", ")))"
        }
        if others.isEmpty { return nil }
        return "this version of Signalbox was not tested with \(others.joined(separator: ", ")). Use a tested version, "
            + "or run `signalbox-lab verify` before you rely on it."
    }
}
