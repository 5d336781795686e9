import Locking
import Logging

/// Collects the lines of a logger, each as `level message`, and the values of its metadata.
public final class LogLines: Sendable {
    private struct Handler: LogHandler {
        let lines: LogLines
        var metadata = Logger.Metadata()
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.MetadataValue? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let values = metadata.merging(event.metadata ?? [:]) { $1 }.map { "\($0)=\($1)" }.sorted()
            lines.lines.withLock { $0.append(("\(event.level) \(event.message)", values.joined(separator: " "))) }
        }
    }

    private let lines = Lock<[(line: String, metadata: String)]>([])

    public init() {}

    public var logger: Logger { Logger(label: "test") { [self] _ in Handler(lines: self) } }
    public var all: [String] { lines.withLock { $0.map(\.line) } }
    public var metadata: String { lines.withLock { $0.map(\.metadata).joined(separator: " ") } }
    public func contain(_ text: String) -> Bool { all.contains { $0.contains(text) } }
}
