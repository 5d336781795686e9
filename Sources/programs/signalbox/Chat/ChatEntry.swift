import CommandSupport

/// What the user has entered in a terminal: a message, or a command of the chat.
enum ChatEntry: Equatable {
    case message(String)
    case help
    case who
    /// Another text for the user's last message; empty: the user has not given one.
    case edit(String)
    case delete
    /// An answer to the last message of another user; empty as above.
    case reply(String)
    /// Adds or takes back a reaction to the message that is the number-th from the end; without a key as above.
    case react(number: Int, key: String)
    /// A line that looks like a command, and is none.
    case unknown(String)

    /// A second slash at the beginning makes a command's line a message.
    init(_ line: String) {
        guard line.hasPrefix("/") else {
            self = .message(line)
            return
        }
        if line.hasPrefix("//") {
            self = .message(String(line.dropFirst()))
            return
        }
        let words = line.split(maxSplits: 1, whereSeparator: \.isWhitespace)
        let rest = words.count > 1 ? String(words[1].drop(while: \.isWhitespace)) : ""
        switch words.first.map(String.init) {
        case "/help"?: self = .help
        case "/who"?: self = .who
        case "/edit"?: self = .edit(rest)
        case "/delete"?: self = .delete
        case "/reply"?: self = .reply(rest)
        case "/react"?: self = Self.react(rest)
        case let command?: self = .unknown(command)
        case nil: self = .message(line)
        }
    }

    /// `2 👍`, or `👍` for the last message.
    private static func react(_ rest: String) -> ChatEntry {
        let words = rest.split(whereSeparator: \.isWhitespace)
        guard let first = words.first else { return .react(number: 1, key: "") }
        guard let number = Int(first) else { return .react(number: 1, key: rest) }
        return .react(number: number, key: words.dropFirst().joined(separator: " "))
    }

    static let helpLines = [
        "/who lists who is here.",
        "/edit TEXT gives your last message another text, /delete deletes it.",
        "/reply TEXT answers the last message of another user.",
        "/react 👍 reacts to the last message, /react 2 👍 to the one before it; once more takes it back.",
        "Arrow up and down: the lines that you have sent.",
        "Ctrl-D leaves. // at the beginning sends a line that begins with a slash.",
    ]

    static func unknownText(_ command: String) -> String {
        "there is no command \(Printable.text(command)). /help lists the commands; begin with // to send the line"
    }
}
