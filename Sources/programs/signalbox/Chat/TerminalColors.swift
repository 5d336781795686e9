import FoundationEssentials

/// Colours for a terminal, unless the user wants none (https://no-color.org).
struct TerminalColors {
    /// The colours of names: the terminal's own palette, without black and white, which may be the background.
    private static let names = [32, 33, 34, 35, 36, 31]

    let isEnabled: Bool

    init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        isEnabled = (environment["NO_COLOR"] ?? "").isEmpty
    }

    /// The same colour for the same sender.
    func name(_ name: String, of sender: String?) -> String {
        guard isEnabled else { return name }
        let sum = (sender ?? name).utf8.reduce(0) { ($0 * 31 + Int($1)) % 65_521 }
        return "\u{1B}[1m\u{1B}[\(Self.names[sum % Self.names.count])m\(name)\u{1B}[0m"
    }

    func ownName(_ name: String) -> String { isEnabled ? "\u{1B}[1m\(name)\u{1B}[0m" : name }

    /// A line that no user has written.
    func notice(_ text: String) -> String { isEnabled ? "\u{1B}[2m\(text)\u{1B}[0m" : text }
}
