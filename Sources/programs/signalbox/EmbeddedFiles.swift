import CEmbeddedFiles
import SignalingServer

/// What the build has put inside of this program.
enum EmbeddedFiles {
    /// The test page and the browser library. `nil` in a build that was made without `scripts/build web`.
    static var web: TarArchive? {
        let count = signalbox_web_files_count()
        guard count > 0, let start = signalbox_web_files() else { return nil }
        return TarArchive(UnsafeRawBufferPointer(start: start, count: count))
    }

    /// The C libraries, a line for each: Debian's source package and its version. Empty in a program that loads the
    /// libraries of the system.
    static var libraries: [String] {
        String(cString: signalbox_libraries()).split(separator: "\n").map(String.init)
    }

    static var isPortable: Bool { !libraries.isEmpty }

    /// The version, and in the portable program what is inside.
    static var version: String { ([ServerVersion.text] + libraries).joined(separator: "\n") }
}
