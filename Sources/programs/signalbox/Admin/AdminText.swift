import CommandSupport
import FoundationEssentials
import Glibc
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

    static func sleepers(_ answer: JSONValue) -> [String] {
        var table = TextTable([
            .left("SESSION"), .left("LABEL"), .left("PROJECT"), .left("LAST JOIN"), .right("LAST SEQ"),
            .left("HISTORY"), .right("RESTRICTIONS"),
        ])
        for item in items(answer) {
            table.append([
                text(item["sessionId"]), text(item["label"]), text(item["apiKey"]), time(item["lastJoinAt"]),
                text(item["lastSeq"]), item["hasHistory"]?.boolValue == true ? "yes" : "no", text(item["restrictions"]),
            ])
        }
        let next = answer["next"]?.stringValue.map { ["there are others: give --before \(Printable.text($0))"] }
        return table.lines + (next ?? [])
    }

    static func feeds(_ answer: JSONValue) -> [String] {
        var table = TextTable([
            .left("PROJECT"), .left("WAY"), .left("CONSUMER"), .right("EVENTS"), .right("ENTRIES BEHIND"),
            .right("SECONDS BEHIND"),
        ])
        for item in items(answer) {
            let isGone = item["isGone"]?.boolValue == true
            let more = item["hasMore"]?.boolValue == true ? "+" : ""
            table.append([
                text(item["apiKey"]), text(item["kind"]), text(item["name"]), text(item["events"]),
                isGone ? "further than the feed reaches" : text(item["waitingEntries"]) + more,
                isGone ? "" : text(item["waitingSeconds"]),
            ])
        }
        return table.lines
    }

    static func session(_ answer: JSONValue) -> [String] {
        guard let object = answer.objectValue else { return [] }
        let name = [
            "session      \(Printable.text(text(object["sessionId"])))",
            "label        \(Printable.text(text(object["label"])))",
            "project      \(Printable.text(text(object["apiKey"])))",
        ]
        if object["asleep"]?.boolValue == true {
            return name + [
                "asleep       nobody is here; the last connection joined at \(time(object["lastJoinAt"]))",
                "events       \(text(object["lastSeq"])) so far",
                "history      \(object["hasHistory"]?.boolValue == true ? "may have messages" : "none")",
                "restricted   \(text(object["restrictions"])) restrictions hold",
            ]
        }
        return name + [
            "connections  \(text(object["connections"])), of these \(text(object["detached"])) detached",
            "events       \(text(object["lastSeq"])) so far, \(text(object["eventsPerSecond"])) a second",
            "log          \(text(object["logEvents"])) events, \(bytes(object["logBytes"]))",
            "sent         \(bytes(object["sentBytes"])), \(bytes(object["sentBytesPerSecond"])) a second",
        ]
    }

    static func connections(_ answer: JSONValue) -> [String] {
        var table = TextTable([
            .left("CONNECTION"), .left("ROLE"), .left("STATE"), .left("ADDRESS"), .right("AGE"), .left("USER"),
            .left("DATA"),
        ])
        for item in items(answer) {
            var state = text(item["state"])
            if item["isBacklogged"]?.boolValue == true { state += ", reads slowly" }
            if item["isPaused"]?.boolValue == true { state += ", paused" }
            table.append([
                text(item["connectionId"]), text(item["role"]), state, text(item["address"]),
                text(item["ageSeconds"]) + " s", text(item["user"]), text(item["data"]),
            ])
        }
        return table.lines + total(answer, of: "connections")
    }

    /// What holds in a session, and the last actions.
    static func moderation(_ answer: JSONValue) -> [String] {
        var held = TextTable([
            .right("REF"), .left("RESTRICTION"), .left("CONCERNS"), .left("SINCE"), .left("UNTIL"), .left("BY"),
            .left("REASON"),
        ])
        let restrictions = objects(answer["restrictions"])
        for item in restrictions {
            held.append([
                text(item["ref"]), text(item["kind"]), subject(item), time(item["time"]),
                item["until"] == nil ? "undone" : time(item["until"]), author(item), text(item["reason"]),
            ])
        }
        var actions = TextTable([
            .right("SEQ"), .left("ACTION"), .left("CONCERNS"), .left("TIME"), .left("BY"), .left("REASON"),
        ])
        for item in objects(answer["actions"]) {
            actions.append([
                text(item["seq"]), text(item["action"]), subject(item), time(item["time"]), author(item),
                text(item["reason"]),
            ])
        }
        let first = restrictions.isEmpty ? ["nothing is restricted in this session"] : held.lines
        return first + ["", "the last actions:"] + actions.lines
    }

    static func action(_ answer: JSONValue) -> [String] { ["done; the action has the seq \(text(answer["seq"]))"] }

    private static func subject(_ item: JSONObject) -> String {
        if let user = item["user"] { return "user " + text(user) }
        if let connection = item["connectionId"] { return "connection " + text(connection) }
        if let ref = item["ref"], item["action"] != nil { return "REF " + text(ref) }
        return "everybody"
    }

    private static func author(_ item: JSONObject) -> String {
        guard let by = item["by"]?.objectValue else { return "a backend" }
        return by["user"].map { "user " + text($0) } ?? "connection " + text(by["connectionId"])
    }

    private static func time(_ value: JSONValue?) -> String {
        guard let milliseconds = value?.integerValue else { return "" }
        return Date(timeIntervalSince1970: Double(milliseconds) / 1000).formatted(.iso8601)
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
        objects(answer["items"])
    }

    private static func objects(_ list: JSONValue?) -> [JSONObject] {
        (list?.arrayValue ?? []).compactMap(\.objectValue)
    }

    private static func total(_ answer: JSONValue, of what: String) -> [String] {
        let (shown, count) = (items(answer).count, Int(answer.objectValue?["count"]?.integerValue ?? 0))
        return shown < count ? ["\(shown) of \(count) \(what)"] : []
    }

    private static func text(_ value: JSONValue?) -> String {
        switch value {
        case .string(let text): text
        case .integer(let number): "\(number)"
        case .double(let number): fixed(number, digits: 2)
        case .bool(let isTrue): "\(isTrue)"
        case .null, .array, .object, nil: ""
        }
    }

    /// With at most 4 digits behind the point.
    private static func fixed(_ number: Double, digits: Int) -> String {
        let factor = [1.0, 10, 100, 1000, 10_000][digits]
        guard let scaled = Int(exactly: (abs(number) * factor).rounded()) else { return "\(number)" }
        let (whole, rest) = scaled.quotientAndRemainder(dividingBy: Int(factor))
        let fraction = digits == 0 ? "" : "." + String(String(Int(factor) + rest).dropFirst())
        return (number < 0 && scaled > 0 ? "-" : "") + "\(whole)" + fraction
    }

    private static func bytes(_ value: JSONValue?) -> String {
        guard var number = value?.doubleValue else { return "" }
        for unit in ["B", "KB", "MB", "GB"] {
            if number < 1000 || unit == "GB" {
                return "\(fixed(number, digits: unit == "B" ? 0 : 1)) \(unit)"
            }
            number /= 1000
        }
        return ""
    }
}
