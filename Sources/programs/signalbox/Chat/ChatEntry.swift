import CommandSupport

/// What the user has entered in a terminal: a message, or a command of the chat.
enum ChatEntry: Equatable {
    case message(String)
    case help
    case who
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
        switch line.split(whereSeparator: \.isWhitespace).first.map(String.init) {
        case "/help"?: self = .help
        case "/who"?: self = .who
        case let command?: self = .unknown(command)
        case nil: self = .message(line)
        }
    }

    static let helpLines = [
        "/who lists who is here.",
        "Arrow up and down: the lines that you have sent.",
        "Ctrl-D leaves. // at the beginning sends a line that begins with a slash.",
    ]

    static func unknownText(_ command: String) -> String {
        "there is no command \(Printable.text(command)). /help lists the commands; begin with // to send the line"
    }
}
