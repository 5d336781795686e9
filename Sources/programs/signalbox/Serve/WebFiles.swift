import CWebFiles
import SignalingServer

/// The test page and the browser library in this program.
enum WebFiles {
    /// `nil` in a build that was made without `scripts/build web`.
    static var archive: TarArchive? {
        let count = signalbox_web_files_count()
        guard count > 0, let start = signalbox_web_files() else { return nil }
        return TarArchive(UnsafeRawBufferPointer(start: start, count: count))
    }
}
