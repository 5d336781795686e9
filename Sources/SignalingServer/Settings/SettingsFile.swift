import Configuration
import FoundationEssentials
import JSONText
import SignalingProtocol
import SignalingTokens

/// The configuration file, read strictly: a misspelt setting would be ignored in silence, and a list of projects is more
/// than swift-configuration's own JSON reader takes.
struct SettingsFile {
    /// The settings that the command line and the environment have, too.
    let values: [AbsoluteConfigKey: ConfigValue]
    /// From `projects` and `applications`, in this order.
    let projects: [Project]
    /// Of those that have their own.
    let webhooks: [APIKey: WebhookReceiver]

    init(path: String) throws {
        let source = "the configuration file \(path)"
        let bytes: Data
        do { bytes = try Data(contentsOf: URL(filePath: path)) } catch {
            throw ConfigurationError("\(source) cannot be read")
        }
        let value: JSONValue
        do { value = try JSONValue(parsing: bytes) } catch {
            throw ConfigurationError("\(source) is not JSON: \(error)")
        }
        let settings = try Members(value, of: source)
        try settings.check(
            known: ServerSettings.Name.allCases.map(\.rawValue) + ServerSettings.ListName.allCases.map(\.rawValue))

        var values: [AbsoluteConfigKey: ConfigValue] = [:]
        for name in ServerSettings.Name.allCases {
            guard let value = settings.object[name.rawValue] else { continue }
            let content: ConfigContent =
                switch value {
                case .string(let text): .string(text)
                case .integer(let number): .int(Int(number))
                case .bool(let truth): .bool(truth)
                case .double, .null, .array, .object:
                    throw ConfigurationError("the setting \(name.rawValue) has a value of the wrong kind")
                }
            values[AbsoluteConfigKey([name.rawValue])] = ConfigValue(content, isSecret: name.isSecret)
        }
        self.values = values

        let folder = URL(filePath: path).deletingLastPathComponent()
        var projects: [Project] = []
        var webhooks: [APIKey: WebhookReceiver] = [:]
        for members in try settings.list(ServerSettings.ListName.projects.rawValue) {
            let project = try Self.project(members)
            projects.append(project)
            webhooks[project.apiKey] = try Self.webhook(members)
        }
        for members in try settings.list(ServerSettings.ListName.applications.rawValue) {
            let project = try Self.application(members, folder: folder)
            projects.append(project)
            webhooks[project.apiKey] = try Self.webhook(members)
        }
        self.projects = projects
        self.webhooks = webhooks
    }

    private static let webhookMembers = [
        ServerSettings.Name.webhookUrl.rawValue, ServerSettings.Name.webhookSecret.rawValue,
    ]

    private static func webhook(_ members: Members) throws -> WebhookReceiver? {
        let texts = try webhookMembers.map { try members.object[$0] == nil ? nil : members.text($0) }
        do { return try WebhookReceiver.read(url: texts[0], secret: texts[1]) } catch let error as ConfigurationError {
            throw ConfigurationError("\(members.place): \(error.description)")
        }
    }

    private static func project(_ members: Members) throws -> Project {
        try members.check(known: ["apiKey", "secrets"] + webhookMembers)
        let apiKey = APIKey(try members.text("apiKey"))
        guard Project.isKey(apiKey) else {
            throw ConfigurationError(
                "\(members.place): the API key has to have 1 to 64 letters, digits or characters - . _")
        }
        guard let values = members.object["secrets"]?.arrayValue else {
            throw ConfigurationError("\(members.place) needs \"secrets\", a list of strings")
        }
        let secrets = values.compactMap(\.stringValue)
        guard secrets.count == values.count else {
            throw ConfigurationError("\(members.place) needs \"secrets\", a list of strings")
        }
        guard (1...Project.secretLimit).contains(secrets.count) else {
            throw ConfigurationError(
                "\(members.place) has \(secrets.count) secrets: one is needed, and two are possible while they change")
        }
        guard Set(secrets).count == secrets.count else {
            throw ConfigurationError("\(members.place) has the same secret twice")
        }
        guard let project = Project(apiKey: apiKey, secrets: secrets) else {
            throw ConfigurationError("\(members.place) has an empty secret")
        }
        return project
    }

    private static func application(_ members: Members, folder: URL) throws -> Project {
        try members.check(known: ["applicationId", "publicKeyFile"] + webhookMembers)
        let id = try members.text("applicationId")
        guard Project.isUUID(id) else {
            throw ConfigurationError("\(members.place): \"applicationId\" has to be a UUID")
        }
        let file = try members.text("publicKeyFile")
        guard let bytes = try? Data(contentsOf: URL(filePath: file, relativeTo: folder)) else {
            throw ConfigurationError("\(members.place): the public key file \(file) cannot be read")
        }
        guard let key = RSAPublicKey(pem: String(decoding: bytes, as: UTF8.self)),
            let project = Project(applicationID: id, publicKey: key)
        else {
            throw ConfigurationError(
                "\(members.place): the file \(file) is not an RSA public key of 2048 bits or more in PEM")
        }
        return project
    }

    /// An object of the file, and how to name it to a person.
    private struct Members {
        let object: JSONObject
        let place: String

        init(_ value: JSONValue, of place: String) throws {
            guard let object = value.objectValue else { throw ConfigurationError("\(place) is not a JSON object") }
            self.object = object
            self.place = place
        }

        func check(known: [String]) throws {
            for member in object where !known.contains(member.name) {
                throw ConfigurationError(
                    "\(place) has an unknown setting \"\(member.name)\" (known: \(known.joined(separator: ", ")))")
            }
        }

        func text(_ name: String) throws -> String {
            guard let text = object[name]?.stringValue, !text.isEmpty else {
                throw ConfigurationError("\(place) needs \"\(name)\", a string that is not empty")
            }
            return text
        }

        /// Nothing when the list is not there. An empty one is refused: it would mean development mode.
        func list(_ name: String) throws -> [Members] {
            guard let value = object[name] else { return [] }
            guard let values = value.arrayValue, !values.isEmpty else {
                throw ConfigurationError("\(place): \"\(name)\" has to be a list that is not empty")
            }
            return try values.enumerated().map { try Members($1, of: "\(place): \(name)[\($0)]") }
        }
    }
}
