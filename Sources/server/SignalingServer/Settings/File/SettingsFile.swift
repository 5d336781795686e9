import FoundationEssentials
import JSONText
import SignalingCore
import SignalingProtocol
import SignalingTokens

/// The configuration file.
///
/// An unknown setting is an error, since a misspelt one would otherwise be ignored. swift-configuration's own JSON
/// reader ignores unknown keys, and cannot read lists of objects.
struct SettingsFile {
    /// The settings that can also be given in the environment.
    let source: SettingsSource
    let path: String
    /// The numbers of elements in the lists, by their names.
    private let counts: [String: Int]
    /// From `projects` and `applications`, in this order.
    let projects: [Project]
    /// The webhook receivers that belong to one project.
    let webhooks: [APIKey: WebhookReceiver]
    /// What single projects keep as history; `nil` as a value keeps nothing.
    let history: [APIKey: KeptTypes?]
    /// What authors may do in projects of the file, instead of what ``SettingsTable/changes`` says.
    let changes: [APIKey: Set<ChangeKind>]
    /// What becomes of read markers there, instead of what ``SettingsTable/readMarkers`` says.
    let readMarkers: [APIKey: ReadMarkers]
    /// Whether single projects have a feed.
    let feeds: [APIKey: Bool]
    /// Where the tokens of single projects have their user; `nil` as a value: nowhere.
    let userSources: [APIKey: UserSource?]
    /// What the admin page calls sessions.
    let labels: [SessionID: SessionLabel]

    /// - Parameter faults: gets those of the names and the lists.
    /// - Throws: ``ConfigurationError`` for a file that is no JSON object.
    init(path: String, _ faults: inout FaultCollector) throws {
        let name = "the configuration file \(path)"
        let bytes: Data
        do { bytes = try Data(contentsOf: URL(filePath: path)).withoutByteOrderMark } catch {
            throw ConfigurationError("\(name) cannot be read. Check that it exists and that the server may read it.")
        }
        let value: JSONValue
        var parser = DocumentParser()
        do { value = try parser.parse(bytes) } catch {
            throw ConfigurationError("\(name) is not JSON: \(error)")
        }
        let settings = try Members(value, of: name, ignoring: SettingsExample.comment)
        faults.collect { try Self.checkNames(in: settings) }
        source = .file(path, settings.object)

        let folder = URL(filePath: path).deletingLastPathComponent()
        var projects: [Project] = []
        var webhooks: [APIKey: WebhookReceiver] = [:]
        var history: [APIKey: KeptTypes?] = [:]
        var changes: [APIKey: Set<ChangeKind>] = [:]
        var readMarkers: [APIKey: ReadMarkers] = [:]
        var feeds: [APIKey: Bool] = [:]
        var userSources: [APIKey: UserSource?] = [:]
        let table = SettingsTable.shared
        let lists: [(name: String, known: [String], read: (Members) throws -> Project)] = [
            (table.projects.declaration.name, ["apiKey", "secrets"], Self.project),
            (
                table.applications.declaration.name, ["applicationId", "publicKeyFile"],
                { try Self.application($0, folder: folder) }
            ),
        ]
        for list in lists {
            let before = faults.faults.count
            for members in settings.list(list.name, &faults) {
                faults.collect { try members.check(known: list.known + Self.commonMembers) }
                let project = faults.collect { try list.read(members) }
                let revoked = faults.collect { try Self.revoked(members) }
                let userSource = faults.collect { try Self.userSource(members) } ?? nil
                let webhook = faults.collect { try Self.webhook(members) } ?? nil
                let kept = faults.collect { try Self.history(members) } ?? nil
                let permitted = faults.collect { try Self.changes(members) } ?? nil
                let markers = faults.collect { try Self.readMarkers(members) } ?? nil
                let feed = faults.collect { try Self.feed(members) } ?? nil
                guard var project else { continue }
                project.revoked = revoked ?? project.revoked
                projects.append(project)
                webhooks[project.apiKey] = webhook
                changes[project.apiKey] = permitted
                readMarkers[project.apiKey] = markers
                feeds[project.apiKey] = feed
                if let userSource { userSources.updateValue(userSource, forKey: project.apiKey) }
                if let kept { history.updateValue(kept, forKey: project.apiKey) }
            }
            // Without all projects, nobody can say whether there are two of a key, or none.
            if faults.faults.count > before { faults.markUnusable([list.name]) }
        }
        self.projects = projects
        self.webhooks = webhooks
        (self.history, self.changes) = (history, changes)
        (self.readMarkers, self.feeds) = (readMarkers, feeds)
        self.userSources = userSources
        labels = Self.labels(in: settings, &faults)
        self.path = path
        let applicationCount = projects.count(where: \.isApplication)
        counts = [
            table.projects.declaration.name: projects.count - applicationCount,
            table.applications.declaration.name: applicationCount,
            table.sessions.declaration.name: labels.count,
        ]
    }

    /// The number of elements in a list.
    func count(of list: SettingDeclaration) -> Int { counts[list.name] ?? 0 }

    private static func checkNames(in settings: Members) throws {
        let outside = SettingsTable.declarations.filter { $0.fileKey == nil && settings.object[$0.name] != nil }
        var faults = FaultCollector()
        faults.collect {
            _ = try outside.mapCollectingFaults { outside in
                let others = [outside.option, outside.variable].compactMap(\.self).joined(separator: " or ")
                throw ConfigurationError(
                    "\(settings.name) cannot have the setting \"\(outside.name)\". Use \(others).")
            }
        }
        let known = SettingsTable.declarations.compactMap(\.fileKey)
        faults.collect { try settings.check(known: known, others: outside.map(\.name)) }
        try faults.finish()
    }

    // MARK: - Projects and applications

    private static let webhookMembers = [
        SettingsTable.shared.webhookUrl.declaration.name, SettingsTable.shared.webhookSecret.declaration.name,
        SettingsTable.shared.webhookTypes.declaration.name,
    ]

    /// What projects and applications have in common.
    private static let commonMembers =
        [historyMember, changesMember, readMarkersMember, feedMember, userMember, revokedMember] + webhookMembers

    private static let historyMember = SettingsTable.shared.history.declaration.name

    /// What the project keeps; `nil` if it does not say.
    private static func history(_ members: Members) throws -> KeptTypes?? {
        try value(historyMember, members) { (text) -> KeptTypes? in try KeptTypes(setting: text) }
    }

    /// The value of a setting that a project has of its own; `nil` if it does not say.
    private static func value<Value>(
        _ member: String, _ members: Members, _ read: (String) throws -> Value
    ) throws -> Value? {
        guard members.object[member] != nil else { return nil }
        let text = try members.text(member)
        do { return try read(text) } catch let error as ConfigurationError {
            throw ConfigurationError("\(members.name): \(error.description)")
        }
    }

    private static let changesMember = SettingsTable.shared.changes.declaration.name

    /// What authors may do in the project; `nil` if it does not say.
    private static func changes(_ members: Members) throws -> Set<ChangeKind>? {
        try value(changesMember, members) { try Set(changes: $0) }
    }

    private static let readMarkersMember = SettingsTable.shared.readMarkers.declaration.name

    private static func readMarkers(_ members: Members) throws -> ReadMarkers? {
        try value(readMarkersMember, members) { try ReadMarkers(setting: $0) }
    }

    private static let feedMember = SettingsTable.shared.feed.declaration.name

    /// Whether the project has a feed; `nil` if it does not say.
    private static func feed(_ members: Members) throws -> Bool? {
        guard let value = members.object[feedMember] else { return nil }
        guard let flag = value.boolValue else {
            throw ConfigurationError("\(members.name): \"\(feedMember)\" must be true or false")
        }
        return flag
    }

    private static func webhook(_ members: Members) throws -> WebhookReceiver? {
        let texts = try webhookMembers.map { try members.object[$0] == nil ? nil : members.text($0) }
        do { return try WebhookReceiver.read(url: texts[0], secret: texts[1], types: texts[2]) } catch let error
            as ConfigurationError
        {
            throw ConfigurationError("\(members.name): \(error.description)")
        }
    }

    private static func project(_ members: Members) throws -> Project {
        let apiKey = APIKey(try members.text("apiKey"))
        guard Project.isKey(apiKey) else {
            throw ConfigurationError(
                "\(members.name): the API key is not valid. Use 1 to 64 letters, digits or characters - . _")
        }
        let values = members.object["secrets"]?.arrayValue ?? []
        let secrets = values.compactMap(\.stringValue)
        guard members.object["secrets"]?.arrayValue != nil, secrets.count == values.count else {
            throw ConfigurationError("\(members.name) needs \"secrets\", a list of strings")
        }
        guard (1...Project.secretLimit).contains(secrets.count) else {
            throw ConfigurationError(
                "\(members.name) has \(secrets.count) secrets. Give one, or two while you change the secret.")
        }
        guard Set(secrets).count == secrets.count else {
            throw ConfigurationError("\(members.name) has the same secret twice. Remove one of them.")
        }
        guard let project = Project(apiKey: apiKey, secrets: secrets) else {
            throw ConfigurationError("\(members.name) has an empty secret. Give one that is not blank.")
        }
        return project
    }

    private static func application(_ members: Members, folder: URL) throws -> Project {
        let id = try members.text("applicationId")
        guard Project.isUUID(id) else {
            throw ConfigurationError("\(members.name): \"applicationId\" is \"\(id.prefix(64))\". Use a UUID.")
        }
        let file = try members.text("publicKeyFile")
        guard let bytes = try? Data(contentsOf: URL(filePath: file, relativeTo: folder)) else {
            throw ConfigurationError(
                "\(members.name): the public key file \(file) cannot be read. Check its path and permissions.")
        }
        guard let key = RSAPublicKey(pem: String(decoding: bytes, as: UTF8.self)),
            let project = Project(applicationID: id, publicKey: key)
        else {
            throw ConfigurationError(
                "\(members.name): the file \(file) has no usable key. Use an RSA public key of 2048 bits or more in PEM."
            )
        }
        return project
    }

    // MARK: - Sessions

    private static func labels(in settings: Members, _ faults: inout FaultCollector) -> [SessionID: SessionLabel] {
        var labels: [SessionID: SessionLabel] = [:]
        for members in settings.list(SettingsTable.shared.sessions.declaration.name, &faults) {
            faults.collect {
                try members.check(known: ["sessionId", "label"])
                let session = SessionID(try members.text("sessionId"))
                do { _ = try SessionIDCodec.read(session) } catch {
                    throw ConfigurationError("\(members.name): the session ID is refused: \(error)")
                }
                guard let label = SessionLabel(try members.text("label")) else {
                    throw ConfigurationError("\(members.name): \(SessionLabel.rule)")
                }
                guard labels.updateValue(label, forKey: session) == nil else {
                    throw ConfigurationError("\(members.name): the session has a label already. Remove one of them.")
                }
            }
        }
        return labels
    }

    /// An object of the file, and its name in messages.
    struct Members {
        let object: JSONObject
        let name: String

        /// - Parameter comment: the beginning of the names of comments.
        init(_ value: JSONValue, of name: String, ignoring comment: String? = nil) throws {
            guard var object = value.objectValue else { throw ConfigurationError("\(name) is not a JSON object") }
            if let comment {
                for member in object where member.name.hasPrefix(comment) { object[member.name] = nil }
            }
            self.object = object
            self.name = name
        }

        /// - Parameter others: names that have a fault already.
        func check(known: [String], others: [String] = []) throws {
            let unknown = object.filter { !known.contains($0.name) && !others.contains($0.name) }
            _ = try unknown.mapCollectingFaults { member in
                let advice =
                    NearestName.of(member.name, among: known).map { "Did you mean \"\($0)\"?" }
                    ?? "It can have: \(known.joined(separator: ", "))."
                throw ConfigurationError("\(name) has an unknown setting \"\(member.name)\". \(advice)")
            }
        }

        func text(_ member: String) throws -> String {
            guard let text = object[member]?.stringValue, !text.isEmpty else {
                throw ConfigurationError("\(name) needs \"\(member)\", a string that is not empty")
            }
            return text
        }

        /// The objects of a list, none when the list is absent. An empty list is an error, since it would mean
        /// development mode.
        func list(_ member: String, _ faults: inout FaultCollector) -> [Members] {
            guard let value = object[member] else { return [] }
            guard let values = value.arrayValue, !values.isEmpty else {
                faults.add(ConfigurationError("\(name): \"\(member)\" must be a list that is not empty"))
                return []
            }
            return values.enumerated().compactMap { index, value in
                faults.collect { try Members(value, of: "\(name): \(member)[\(index)]") }
            }
        }
    }
}
