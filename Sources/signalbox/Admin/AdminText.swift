import Foundation
import JSONText
import SignalingServer

/// The answers of the admin interface as tables.
enum AdminText {
    /// The answer itself, in one line.
    static func json(_ answer: JSONValue) -> [String] { [TerminalText.json(answer.encodedText())] }

    static func sessions(_ answer: JSONValue) -> [String] {
        var table = TextTable([
            .left("SESSION"), .left("LABEL"), .left("PROJECT"), .right("CONNECTIONS"), .right("DETACHED"),
            .right("EVENTS/S"),
            .right("SENT/S"), .right("LAST SEQ"), .right("LOG"),
        ])
        for item in items(answer) {
            table.append([
                text(item["sessionId"]), text(item["label"]), text(item["apiKey"]), text(item["connections"]),
                text(item["detached"]), text(item["eventsPerSecond"]), bytes(item["sentBytesPerSecond"]),
                text(item["lastSeq"]),
                bytes(item["logBytes"]),
            ])
        }
        return table.lines + total(answer, of: "sessions")
    }

    static func session(_ answer: JSONValue) -> [String] {
        guard let object = answer.objectValue else { return [] }
        return [
            "session      \(Printable.text(text(object["sessionId"])))",
            "label        \(Printable.text(text(object["label"])))",
            "project      \(Printable.text(text(object["apiKey"])))",
            "connections  \(text(object["connections"])), of these \(text(object["detached"])) detached",
            "events       \(text(object["lastSeq"])) so far, \(text(object["eventsPerSecond"])) a second",
            "log          \(text(object["logEvents"])) events, \(bytes(object["logBytes"]))",
            "sent         \(bytes(object["sentBytes"])), \(bytes(object["sentBytesPerSecond"])) a second",
        ]
    }

    static func connections(_ answer: JSONValue) -> [String] {
        var table = TextTable([
            .left("CONNECTION"), .left("ROLE"), .left("STATE"), .left("ADDRESS"), .right("AGE"), .left("DATA"),
        ])
        for item in items(answer) {
            var state = text(item["state"])
            if item["isBacklogged"]?.boolValue == true { state += ", reads slowly" }
            if item["isPaused"]?.boolValue == true { state += ", paused" }
            table.append([
                text(item["connectionId"]), text(item["role"]), state, text(item["address"]),
                text(item["ageSeconds"]) + " s", text(item["data"]),
            ])
        }
        return table.lines + total(answer, of: "connections")
    }

    static func statistics(_ answer: JSONValue) -> [String] {
        var table = TextTable([.left("NUMBER"), .right("VALUE")])
        for (name, value) in answer.objectValue ?? [:] {
            if let inner = value.objectValue {
                for (part, value) in inner { table.append(["\(name).\(part)", text(value)]) }
            } else {
                table.append([name, text(value)])
            }
        }
        return table.lines
    }

    private static func items(_ answer: JSONValue) -> [JSONObject] {
        (answer.objectValue?["items"]?.arrayValue ?? []).compactMap(\.objectValue)
    }

    private static func total(_ answer: JSONValue, of what: String) -> [String] {
        let (shown, count) = (items(answer).count, Int(answer.objectValue?["count"]?.integerValue ?? 0))
        return shown < count ? ["\(shown) of \(count) \(what)"] : []
    }

    private static func text(_ value: JSONValue?) -> String {
        switch value {
        case .string(let text): text
        case .integer(let number): "\(number)"
        case .double(let number): String(format: "%.2f", number)
        case .bool(let isTrue): "\(isTrue)"
        case .null, .array, .object, nil: ""
        }
    }

    private static func bytes(_ value: JSONValue?) -> String {
        guard var number = value?.doubleValue else { return "" }
        for unit in ["B", "KB", "MB", "GB"] {
            if number < 1000 || unit == "GB" {
                return String(format: unit == "B" ? "%.0f %@" : "%.1f %@", number, unit)
            }
            number /= 1000
        }
        return ""
    }
}
