import Glibc
import JSONText
import Logging

/// The form of log lines.
package enum LogFormat: String, CaseIterable, Sendable {
    /// For people: `2026-11-22T02:00:00.000+00:00 info signalbox: key=value [source] message`.
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
            for (key, value) in pairs where object[key] == nil { object[key] = json(value) }
            return TerminalText.json(JSONValue.object(object).encodedText()) + "\n"
        }
    }

    /// No text from outside can end a line and begin a forged one, or control a terminal.
    private static func oneLine(_ text: String) -> String { TerminalText.text(text, replacement: "\u{FFFD}") }

    /// A number that the program logs is a number in JSON; text stays text, also text of digits such as a name.
    private static func json(_ value: Logger.MetadataValue) -> JSONValue {
        switch value {
        case .string(let text): .string(text)
        case .array(let items): .array(items.map(json))
        case .dictionary(let members):
            .object(members.sorted { $0.key < $1.key }.reduce(into: [:]) { $0[$1.key] = json($1.value) })
        case .stringConvertible(let value):
            switch value {
            case let isOn as Bool: .bool(isOn)
            case let number as any BinaryInteger:
                Int64(exactly: number).map { .integer($0) } ?? .string(value.description)
            // JSON has no infinity.
            case let number as Double where number.isFinite: .double(number)
            default: .string(value.description)
            }
        }
    }

    private static func timestamp() -> String {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return timestamp(seconds: now.tv_sec, milliseconds: now.tv_nsec / 1_000_000)
    }

    /// RFC 3339 in local time, which programs read in any zone: `2026-11-22T03:00:00.007+01:00`.
    static func timestamp(seconds: Int, milliseconds: Int) -> String {
        var seconds = time_t(seconds)
        var parts = tm()
        localtime_r(&seconds, &parts)
        func digits(_ number: Int, _ count: Int) -> String {
            let text = "\(number)"
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        let date = [Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday)]
        let time = [Int(parts.tm_hour), Int(parts.tm_min), Int(parts.tm_sec)]
        // `strftime` has neither milliseconds nor a colon in the offset.
        let minutes = Int(parts.tm_gmtoff) / 60
        let offset = [abs(minutes) / 60, abs(minutes) % 60].map { digits($0, 2) }.joined(separator: ":")
        return date.map { digits($0, 2) }.joined(separator: "-") + "T"
            + time.map { digits($0, 2) }.joined(separator: ":") + "." + digits(milliseconds, 3)
            + (minutes < 0 ? "-" : "+") + offset
    }
}
