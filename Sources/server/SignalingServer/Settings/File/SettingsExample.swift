import JSONText

/// A commented configuration file, for `signalbox config init`.
///
/// JSON has no comments. A member whose name begins with `//` is one: the server ignores it.
public enum SettingsExample {
    /// The mark at the beginning of a comment's name.
    static let comment = "//"

    /// Every setting of the file is in a comment of its own, with its meaning and its default. The example itself sets
    /// only what most servers need.
    ///
    /// - Parameter secret: random, for the example's project.
    public static func text(secret: String) -> String {
        var lines = [
            "\"//\": \"Configuration of Signalbox. Names that begin with // are comments. Check it: signalbox config "
                + "check FILE\"",
            "\"host\": \"127.0.0.1\"", "\"port\": 8080",
            "\"projects\": [{\"apiKey\": \"100\", \"secrets\": [\(quoted(secret))]}]",
            "\"adminPort\": 9091",
            "\"stateDir\": \"/var/lib/signalbox\"",
            "\"//history\": \"Sessions keep the messages of chats for users who come later. none: nothing is kept\"",
            "\"history\": \"text-chat,TextChat\"",
            "\"//changes\": \"Authors may edit and delete messages, and users react to them. none: nothing changes\"",
            "\"changes\": \"edit,erase,react\"",
            "\"//readMarkers\": \"Users see on all their devices what is unread, and who has read. off: nobody does\"",
            "\"readMarkers\": \"shared\"",
        ]
        let set: Set<String> = [
            "host", "port", "projects", "adminPort", "stateDir", "history", "changes", "readMarkers",
        ]
        for declaration in SettingsTable.declarations {
            guard let key = declaration.fileKey, !set.contains(key) else { continue }
            let range = declaration.rangeText.map { " Range: \($0)." } ?? ""
            lines.append(
                "\(quoted("//\(key)")): \(quoted("\(declaration.summary)\(range) Default: \(declaration.defaultText)"))"
            )
        }
        return "{\n" + lines.map { "  \($0)" }.joined(separator: ",\n") + "\n}\n"
    }

    private static func quoted(_ text: String) -> String { JSONValue.string(text).encodedText() }
}
