import Configuration

/// One setting of the server, with the type of its value.
public struct Setting<Value: Sendable>: Sendable {
    /// Puts a value into the configuration.
    typealias Setter = @Sendable (inout ServerConfiguration, Value) -> Void

    public let declaration: SettingDeclaration
    let wrap: @Sendable (Value) -> ConfigContent
    let unwrap: @Sendable (ConfigContent) -> Value?

    fileprivate init(
        _ declaration: SettingDeclaration, _ set: Setter?, wrap: @escaping @Sendable (Value) -> ConfigContent,
        unwrap: @escaping @Sendable (ConfigContent) -> Value?
    ) {
        var declaration = declaration
        if let set {
            declaration.apply = { configuration, content in
                if let value = unwrap(content) { set(&configuration, value) }
            }
        }
        self.declaration = declaration
        self.wrap = wrap
        self.unwrap = unwrap
    }
}

extension RawRepresentable<String> {
    /// Takes the value whose word the text is, in any case.
    mutating func read(_ text: String) { if let value = Self(rawValue: text.lowercased()) { self = value } }
}

/// The declaration of a setting.
///
/// The option, the variable, the key in the file, the help text, the checks, the masking of secrets and the row in
/// docs/CONFIGURATION.md are all derived from it.
public struct SettingDeclaration: Sendable {
    /// A way to give a value.
    public enum Spelling: Sendable { case option, variable, file }

    public enum Kind: Sendable {
        /// Text that is not blank; the string describes its form.
        case text(String)
        case choice([String])
        case number(ClosedRange<Int>)
        case flag
        /// A list of objects.
        case list
    }

    /// In camel case: the key in the file. The other spellings are derived from it.
    public let name: String
    public let kind: Kind
    public let spellings: Set<Spelling>
    /// Whether the value must not appear in messages and logs.
    public let isSecret: Bool
    /// The default in words; it may depend on other settings.
    public let defaultText: String
    /// One or two sentences, without the range of a number.
    public let summary: String
    /// Whether a running server takes a new value (SIGHUP). Otherwise it keeps the old one until a restart.
    public let isReloadable: Bool
    /// Puts a value into the configuration; `nil` for a setting that ``ResolvedSettings`` combines with others.
    fileprivate(set) var apply: (@Sendable (inout ServerConfiguration, ConfigContent) -> Void)?

    /// `--web-root`; nil when the command line does not have the setting.
    public var option: String? {
        spellings.contains(.option) ? "--" + words.joined(separator: "-") : nil
    }

    /// `SIGNALBOX_WEB_ROOT`; nil when the environment does not have the setting.
    public var variable: String? {
        spellings.contains(.variable) ? (["signalbox"] + words).joined(separator: "_").uppercased() : nil
    }

    /// `SIGNALBOX_API_SECRET_FILE`: a secret may also be in a file. nil for other settings.
    public var fileVariable: String? { isSecret ? variable.map { $0 + "_FILE" } : nil }

    /// `webRoot`; nil when the file does not have the setting.
    public var fileKey: String? { spellings.contains(.file) ? name : nil }

    /// `0 to 65535`; nil for a setting that is not a number.
    public var rangeText: String? {
        if case .number(let bounds) = kind { "\(bounds.lowerBound) to \(bounds.upperBound)" } else { nil }
    }

    var isList: Bool { if case .list = kind { true } else { false } }

    /// For `--help`: the summary, the range and the default.
    public var help: String {
        let details = [rangeText, defaultText == Self.noDefault ? nil : "default: \(defaultText)"].compactMap(\.self)
        return details.isEmpty ? summary : "\(summary) (\(details.joined(separator: "; ")))"
    }

    static let noDefault = "none"

    /// `webRoot` → `web`, `root`.
    private var words: [String] {
        name.reduce(into: [""]) { words, character in
            if character.isUppercase { words.append("") }
            words[words.count - 1] += character.lowercased()
        }
    }
}

/// A setting with any type of value.
protocol DeclaredSetting { var declaration: SettingDeclaration { get } }

extension Setting: DeclaredSetting {}

extension Setting where Value == String {
    init(
        _ name: String, default defaultText: String = SettingDeclaration.noDefault, isSecret: Bool = false,
        form: String = "text", reloads: Bool = false, _ summary: String, sets: Setter? = nil
    ) {
        self.init(name, .text(form), [.option, .variable, .file], isSecret, defaultText, reloads, summary, sets)
    }

    /// One of several words, in any case.
    init(
        _ name: String, default defaultText: String, choice words: [String], reloads: Bool = false, _ summary: String,
        sets: Setter? = nil
    ) { self.init(name, .choice(words), [.option, .variable, .file], false, defaultText, reloads, summary, sets) }

    /// A setting that the file cannot have.
    init(
        _ name: String, default defaultText: String = SettingDeclaration.noDefault,
        outsideFile kind: SettingDeclaration.Kind, _ summary: String
    ) { self.init(name, kind, [.option, .variable], false, defaultText, false, summary, nil) }

    private init(
        _ name: String, _ kind: SettingDeclaration.Kind, _ spellings: Set<SettingDeclaration.Spelling>,
        _ isSecret: Bool, _ defaultText: String, _ reloads: Bool, _ summary: String, _ sets: Setter?
    ) {
        self.init(
            SettingDeclaration(
                name: name, kind: kind, spellings: spellings, isSecret: isSecret, defaultText: defaultText,
                summary: summary, isReloadable: reloads), sets, wrap: { .string($0) },
            unwrap: { if case .string(let text) = $0 { text } else { nil } })
    }
}

extension Setting where Value == Int {
    init(
        _ name: String, _ bounds: ClosedRange<Int>, default defaultText: String,
        spellings: Set<SettingDeclaration.Spelling> = [.option, .variable, .file], reloads: Bool = false,
        _ summary: String, sets: Setter? = nil
    ) {
        self.init(
            SettingDeclaration(
                name: name, kind: .number(bounds), spellings: spellings, isSecret: false, defaultText: defaultText,
                summary: summary, isReloadable: reloads), sets, wrap: { .int($0) },
            unwrap: { if case .int(let number) = $0 { number } else { nil } })
    }
}

extension Setting where Value == Bool {
    init(
        _ name: String, default defaultText: String, reloads: Bool = false, _ summary: String, sets: Setter? = nil
    ) {
        self.init(
            SettingDeclaration(
                name: name, kind: .flag, spellings: [.option, .variable, .file], isSecret: false,
                defaultText: defaultText, summary: summary, isReloadable: reloads), sets, wrap: { .bool($0) },
            unwrap: { if case .bool(let isOn) = $0 { isOn } else { nil } })
    }
}

/// A list of objects, which only the file has. ``SettingsFile`` reads it.
public struct SettingList: DeclaredSetting, Sendable {
    public let declaration: SettingDeclaration

    init(_ name: String, _ summary: String) {
        declaration = SettingDeclaration(
            name: name, kind: .list, spellings: [.file], isSecret: false, defaultText: SettingDeclaration.noDefault,
            summary: summary, isReloadable: true)
    }
}
