import Glibc
import Logging
import Synchronization

/// A swift-log handler that passes its lines to a ``LogWriter``. The form of a line is that of swift-log's own
/// `StreamLogHandler`.
package struct QueuedLogHandler: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?
    private let label: String
    private let writer: LogWriter
    private let common: LogLevel
    private var own: Logger.Level?

    package init(label: String, writer: LogWriter, level: LogLevel) {
        self.label = label
        self.writer = writer
        common = level
    }

    /// The level of this logger if it was set, otherwise the common one.
    package var logLevel: Logger.Level {
        get { own ?? common.value }
        set { own = newValue }
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        var all = metadata
        if let metadataProvider { all.merge(metadataProvider.get()) { $1 } }
        if let explicit = event.metadata { all.merge(explicit) { $1 } }
        if let error = event.error { all["error.message"] = "\(error)" }
        writer.add(
            LogLine.make(
                writer.format, level: event.level, label: label, metadata: all, source: event.source,
                message: "\(event.message)"))
    }
}

/// The level that all loggers of a program share. It can change while the program runs, from any thread.
package final class LogLevel: Sendable {
    private let level: Mutex<Logger.Level>

    package init(_ level: Logger.Level) { self.level = Mutex(level) }

    package var value: Logger.Level {
        get { level.withLock { $0 } }
        set { level.withLock { $0 = newValue } }
    }
}
