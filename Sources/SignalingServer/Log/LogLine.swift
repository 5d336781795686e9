import Foundation
import JSONText
import Logging

/// The form of log lines.
package enum LogFormat: String, CaseIterable, Sendable {
    /// For people: `2026-11-22T02:00:00+0000 info signalbox: key=value [source] message`.
    case text
    /// For programs: a JSON object per line.
    case json
}

enum LogLine {
    /// One line with its line end.
    static func make(
        _ format: LogFormat, level: Logger.Level, label: String, metadata: Logger.Metadata, source: String,
        message: String
    ) -> String {
        let pairs = metadata.sorted { $0.key < $1.key }
        switch format {
        case .text:
            let text = pairs.map { " \(oneLine($0.key))=\(oneLine("\($0.value)"))" }.joined()
            return "\(timestamp()) \(level) \(label):\(text) [\(source)] \(oneLine(message))\n"
        case .json:
            var object: JSONObject = [
                "time": .string(timestamp()), "level": .string("\(level)"), "label": .string(label),
                "source": .string(source), "message": .string(message),
            ]
            // The members above keep their meaning.
            for (key, value) in pairs where object[key] == nil { object[key] = .string("\(value)") }
            return TerminalText.json(JSONValue.object(object).encodedText()) + "\n"
        }
    }

    /// No text from outside can end a line and begin a forged one, or control a terminal.
    private static func oneLine(_ text: String) -> String { TerminalText.text(text, replacement: "\u{FFFD}") }

    private static func timestamp() -> String {
        var seconds = time(nil)
        var parts = tm()
        localtime_r(&seconds, &parts)
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            guard let base = buffer.baseAddress, strftime(base, buffer.count, "%Y-%m-%dT%H:%M:%S%z", &parts) > 0 else {
                return "-"
            }
            return String(cString: base)
        }
    }
}
