import SignalingCore
import SignalingProtocol

extension Set<ChangeKind> {
    /// Reads the setting: kinds separated by commas, `all`, or `none`.
    init(changes text: String) throws {
        switch text {
        case "none": self = []
        case "all": self = Set(ChangeKind.allCases)
        default:
            self = []
            for name in text.split(separator: ",", omittingEmptySubsequences: false) {
                guard let kind = ChangeKind(rawValue: String(name)) else {
                    throw ConfigurationError(
                        "changes: \"\(name.prefix(64))\" is no kind of change. Use \(SettingsTable.allChanges), all or none."
                    )
                }
                insert(kind)
            }
        }
    }
}

extension ReadMarkers {
    init(setting text: String) throws {
        guard let markers = ReadMarkers(rawValue: text) else {
            throw ConfigurationError("readMarkers: \"\(text.prefix(64))\" is no choice. Use off, own or shared.")
        }
        self = markers
    }
}

extension KeptTypes {
    /// More types are surely a mistake, and each session's state carries them.
    private static let countLimit = 64

    /// Reads the setting: types separated by commas, `all`, or `none`, for which the value is `nil`.
    ///
    /// - Throws: ``ConfigurationError`` for a type that no signal can have.
    init?(setting text: String) throws {
        if text == "none" { return nil }
        if text == "all" {
            self = .all
            return
        }
        let types = Set(text.split(separator: ",", omittingEmptySubsequences: false).map(String.init))
        for type in types {
            do throws(SignalingError) {
                try SignalRequest(type: type).validate()
            } catch {
                throw ConfigurationError("history: \"\(type.prefix(64))\" is no type of a signal: \(error.message)")
            }
            guard !type.isEmpty else {
                throw ConfigurationError("history: a type is empty. Separate types by commas, or use all or none.")
            }
        }
        guard types.count <= Self.countLimit else {
            throw ConfigurationError("history: there are \(types.count) types. Use all, or at most \(Self.countLimit).")
        }
        self = .only(types.sorted())
    }
}
