import Foundation
import SignalingCore
import SignalingTokens
import Testing

@testable import SignalingServer

@Suite("The check of a configuration")
struct SettingsCheckTests {
    /// The faults of a file with this text, without the path of the file.
    private func faults(_ text: String, environment: [String: String] = [:]) async throws -> [String] {
        let path = FileManager.default.temporaryDirectory.appending(path: "check-\(UUID().uuidString).json").path
        try Data(text.utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        var settings = ServerSettings()
        settings.config = path
        do {
            try await settings.check(environment: environment)
            return []
        } catch let error as ConfigurationError {
            return error.lines.map { $0.replacing(path, with: "FILE") }
        }
    }

    @Test("all faults of names, values, lists, variables and folders are found at once, each with its place")
    func all() async throws {
        let found = try await faults(
            #"""
            {"prot": 1, "port": 70000, "config": "x", "tlsCert": "/nowhere.pem",
             "stateDir": "/nowhere/at/all", "trustedProxy": "10.0.0.0/8,proxy,other",
             "projects": [{"apiKey": "1", "secrets": [], "colour": "red"}, {"apiKey": "a b", "secrets": ["x"]}, 7],
             "sessions": [{"sessionId": "x", "label": "y"}, {"label": "y"}, {"sessionId": "1_MX4xMDB-fjE3Njk5MDQwMDAwMDB-YWJjZH5Qfn4", "label": "\n"}]}
            """#,
            environment: ["SIGNALBOX_LOG_LEVEL": "loud", "SIGNALBOX_ADMIN_TOKEN_FILE": "/nowhere/token"])
        let expected = [
            "/nowhere/token", #"FILE cannot have the setting "config""#, #"FILE has an unknown setting "prot""#,
            #"projects[0] has an unknown setting "colour""#, "projects[0] has 0 secrets",
            "projects[1]: the API key is not valid", "projects[2] is not a JSON object",
            "sessions[0]: the session ID is refused", #"sessions[1] needs "sessionId""#,
            "sessions[2]: a label has 1 to 64 bytes",
            #"the setting port is 70000 ("port" in FILE)"#,
            #"the setting logLevel is "loud" (SIGNALBOX_LOG_LEVEL)"#,
            #"given without its key. Add --tls-key. ("tlsCert" in FILE)"#,
            #""proxy" is not valid"#, #""other" is not valid"#,
            #"/nowhere/at/all cannot be created: /nowhere/at is no folder. Create it first. ("stateDir" in FILE)"#,
        ]
        for text in expected { #expect(found.count { $0.contains(text) } == 1, "\(text): \(found)") }
        #expect(found.count == expected.count, "\(found)")
        #expect(found.allSatisfy { !$0.contains("\n") && !$0.contains("loopback") })
    }

    @Test(
        "a fault hides no other, and has no consequence that reads like another fault",
        arguments: [
            (#"{"apiKey": "", "apiSecret": "x", "host": "0.0.0.0"}"#, ["apiKey is empty"]),
            (#"{"apiKey": "1", "host": "0.0.0.0", "redis": "redis://127.0.0.1"}"#, ["without its secret"]),
            (#"{"projects": [{"apiKey": "1"}], "dev": true}"#, [#"needs "secrets""#]),
            (#"{"trustedProxy": "x", "proxyHeader": "forwarded"}"#, [#""x" is not valid"#]),
            (#"{"adminPort": 99999, "adminToken": "t"}"#, ["adminPort is 99999"]),
            ("{", ["is not JSON"]),
            (
                #"{"host": "0.0.0.0", "trustedProxy": "10.0.0.1", "adminPort": 0, "adminHost": "0.0.0.0"}"#,
                ["cannot listen on 0.0.0.0", "a trusted proxy brings", "can be reached from", "admin listener has no"]
            ),
            ("{}", []),
        ])
    func consequences(_ text: String, _ expected: [String]) async throws {
        let found = try await faults(text)
        #expect(found.count == expected.count, "\(found)")
        for text in expected { #expect(found.contains { $0.contains(text) }, "\(found)") }
    }

    @Test("a file that is not JSON does not hide the faults of variables")
    func variables() async throws {
        let found = try await faults("{", environment: ["SIGNALBOX_PORT": "x", "SIGNALBOX_API_KEY": "1"])
        #expect(found.count == 2 && found[0].contains("is not JSON") && found[1].contains("SIGNALBOX_PORT"), "\(found)")
    }

    @Test("USR-1, TOK-10: wrong users and revocations are found, each with its place")
    func tokens() async throws {
        let found = try await faults(
            #"""
            {"userFrom": "data",
             "projects": [
               {"apiKey": "1", "secrets": ["x"], "userFrom": "connectionData."},
               {"apiKey": "2", "secrets": ["x"], "revoked": [{"user": "u"}, {"before": 5}, {"jti": "", "before": 1}]},
               {"apiKey": "3", "secrets": ["x"], "revoked": {}}]}
            """#)
        let expected = [
            #"projects[0]: userFrom is "connectionData.""#, "projects[1]: revoked[0]: \"before\" must be",
            "projects[1]: revoked[2]: \"jti\" must be", "projects[2]: \"revoked\" must be a list",
            #"userFrom is "data""#,
        ]
        #expect(found.count == expected.count, "\(found)")
        for text in expected { #expect(found.contains { $0.contains(text) }, "\(text) in \(found)") }
    }

    @Test("USR-1: a project's own userFrom counts before that of all projects, and none takes it away")
    func userSources() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "check-\(UUID().uuidString).json").path
        try Data(
            #"""
            {"userFrom": "connectionData",
             "projects": [
               {"apiKey": "1", "secrets": ["x"], "userFrom": "connectionData.id"},
               {"apiKey": "2", "secrets": ["x"], "userFrom": "none"}, {"apiKey": "3", "secrets": ["x"]}]}
            """#.utf8
        ).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        var settings = ServerSettings()
        settings.config = path
        let configuration = try await settings.configuration(environment: [:])
        let projects = configuration.served(try #require(try configuration.access.projects()))
        #expect(projects.map(\.userSource) == [.member("id"), nil, .connectionData])
    }

    @Test("HIS-2: a history in memory has a smaller bound than one in a folder, and a setting counts more than both")
    func historyBounds() async throws {
        var settings = ServerSettings()
        let environment = ["SIGNALBOX_API_KEY": "100", "SIGNALBOX_API_SECRET": "a secret of the tests, 32 bytes long"]
        #expect(try await settings.configuration(environment: environment).historyBounds.totalByteCount == 256 << 20)
        settings.stateDir = FileManager.default.temporaryDirectory.path
        #expect(try await settings.configuration(environment: environment).historyBounds.totalByteCount == 4 << 30)
        settings.historyTotalBytes = 1 << 20
        #expect(try await settings.configuration(environment: environment).historyBounds.totalByteCount == 1 << 20)
    }
}
