import Foundation
import SignalingCore
import SignalingProtocol
import SignalingTokens
import Testing

@testable import SignalingServer

@Suite("Settings that a running server reads again")
struct SettingsReloadTests {
    /// A configuration file for one test.
    private final class File {
        let folder = FileManager.default.temporaryDirectory.appending(path: "signalbox-\(UUID().uuidString)")
        var path: String { folder.appending(path: "settings.json").path }

        init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }
        deinit { try? FileManager.default.removeItem(at: folder) }

        func settings(_ text: String, _ options: ServerSettings = ServerSettings()) async throws -> ResolvedSettings {
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            var options = options
            options.config = path
            return try await options.resolved(environment: [:])
        }
    }

    private static let one = #""projects": [{"apiKey": "100", "secrets": ["a"]}]"#

    private static let session = "1_MX4xMDB-fjE3Njk5MDQwMDAwMDB-YWJjZH5Qfn4"

    /// Two files, and the names of the settings that take effect or need a restart.
    private static let table: [(old: String, new: String, applied: [String], needRestart: [String])] = [
        ("{\(one)}", "{\(one)}", [], []),
        ("{\(one)}", #"{"projects": [{"apiKey": "100", "secrets": ["b", "a"]}]}"#, ["projects"], []),
        ("{\(one)}", #"{"projects": [{"apiKey": "101", "secrets": ["a"]}]}"#, ["projects"], []),
        (#"{"apiKey": "1", "apiSecret": "a"}"#, #"{"apiKey": "1", "apiSecret": "b"}"#, ["apiSecret"], []),
        (#"{"apiKey": "1", "apiSecret": "a"}"#, #"{"apiKey": "2", "apiSecret": "a"}"#, ["apiKey"], []),
        (#"{"apiKey": "1", "apiSecret": "a"}"#, "{\(one)}", ["apiKey", "apiSecret", "projects"], []),
        ("{\(one)}", #"{\#(one), "allowPartnerAuth": true}"#, ["allowPartnerAuth"], []),
        ("{\(one)}", #"{\#(one), "userFrom": "connectionData"}"#, ["userFrom"], []),
        (
            "{\(one)}", #"{"projects": [{"apiKey": "100", "secrets": ["a"], "userFrom": "connectionData.id"}]}"#,
            ["projects"], []
        ),
        (
            "{\(one)}", #"{"projects": [{"apiKey": "100", "secrets": ["a"], "revoked": [{"before": 5}]}]}"#,
            ["projects"], []
        ),
        (#"{\#(one), "signalRate": 1}"#, #"{\#(one), "signalRate": 2}"#, ["signalRate"], []),
        (#"{\#(one), "signalRate": 1}"#, "{\(one)}", ["signalRate"], []),
        (
            "{\(one)}",
            #"{\#(one), "sessionConnections": 5, "signalBurst": 6, "onlineOnlyLimit": 7, "drainSeconds": 8}"#,
            ["sessionConnections", "signalBurst", "onlineOnlyLimit", "drainSeconds"], []
        ),
        ("{\(one)}", #"{\#(one), "logLevel": "debug"}"#, ["logLevel"], []),
        ("{\(one)}", #"{\#(one), "requestRate": 5}"#, ["requestRate"], []),
        ("{\(one)}", #"{\#(one), "maxConnections": 200}"#, [], ["maxConnections"]),
        (
            "{\(one)}", #"{\#(one), "port": 1, "host": "127.0.0.2", "stateDir": "/x"}"#, [],
            ["host", "port", "stateDir"]
        ),
        ("{\(one)}", #"{\#(one), "port": 1, "signalRate": 2}"#, ["signalRate"], ["port"]),
        ("{\(one)}", #"{\#(one), "resumeSeconds": 1, "logEvents": 2}"#, [], ["resumeSeconds", "logEvents"]),
        ("{\(one)}", #"{\#(one), "tokenExpiry": "end"}"#, [], ["tokenExpiry"]),
        ("{\(one)}", #"{\#(one), "webhookUrl": "http://127.0.0.1/"}"#, [], ["webhookUrl"]),
        (
            "{\(one)}", #"{"projects": [{"apiKey": "100", "secrets": ["a"], "webhookUrl": "http://127.0.0.1/"}]}"#,
            [], ["the webhooks of projects"]
        ),
        ("{\(one)}", #"{\#(one), "tlsCert": "a", "tlsKey": "b"}"#, [], ["tlsCert", "tlsKey"]),
        (
            #"{\#(one), "tlsCert": "a", "tlsKey": "b"}"#, #"{\#(one), "tlsCert": "c", "tlsKey": "d"}"#,
            ["tlsCert", "tlsKey"], []
        ),
        (#"{\#(one), "tlsCert": "a", "tlsKey": "b"}"#, "{\(one)}", [], ["tlsCert", "tlsKey"]),
        ("{}", "{\(one)}", [], ["projects"]),
        ("{\(one)}", "{}", [], ["projects"]),
        ("{}", #"{"dev": true}"#, [], ["dev"]),
        ("{}", #"{"signalRate": 5}"#, ["signalRate"], []),
        ("{}", #"{"sessions": [{"sessionId": "\#(session)", "label": "Support 7"}]}"#, ["sessions"], []),
    ]

    @Test("each difference takes effect or is named as needing a restart", arguments: table.indices)
    func differences(_ index: Int) async throws {
        let row = Self.table[index]
        let file = try File()
        let old = try await file.settings(row.old)
        let new = try await file.settings(row.new)
        let (settings, change) = try old.reloaded(as: new)
        #expect(change == SettingsChange(applied: row.applied, needRestart: row.needRestart), "\(row.new)")
        // A second time nothing takes effect, and the same settings still need a restart.
        let again = try settings.reloaded(as: new).change
        #expect(again == SettingsChange(applied: [], needRestart: row.needRestart), "\(row.new)")
    }

    @Test("the result has the new values of what changed, and the old ones of everything else")
    func merged() async throws {
        let file = try File()
        let old = try await file.settings(#"{\#(Self.one), "port": 1, "signalRate": 2, "logLevel": "info"}"#)
        let new = try await file.settings(
            #"{"projects": [{"apiKey": "7", "secrets": ["x"]}], "port": 9, "signalRate": 3, "logLevel": "trace"}"#)
        let merged = try old.reloaded(as: new).settings
        let configuration = try merged.configuration()
        #expect(configuration.port == 1)
        #expect(configuration.sessionBounds.signalRate?.perSecond == 3)
        #expect(try configuration.access.projects()?.map(\.apiKey) == [APIKey("7")])
        #expect(merged.values.logLevel == "trace")
    }

    @Test("the command line still overrides the file")
    func precedence() async throws {
        let file = try File()
        var options = ServerSettings()
        options.signalRate = 50
        let old = try await file.settings("{\(Self.one)}", options)
        let new = try await file.settings(#"{\#(Self.one), "signalRate": 2}"#, options)
        #expect(try old.reloaded(as: new).change == SettingsChange())
    }

    @Test("values that contradict one that stays are refused")
    func contradiction() async throws {
        let file = try File()
        let old = try await file.settings("{}")
        var options = ServerSettings()
        options.dev = true
        let new = try await file.settings("{}", options)
        // Development mode stays: `dev` needs a restart.
        #expect(try old.reloaded(as: new).change.needRestart == ["dev"])
    }

    @Test("docs/CONFIGURATION.md lists the settings that a reload changes")
    func documented() throws {
        let document = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../docs/CONFIGURATION.md").standardized
        let text = try String(contentsOf: document, encoding: .utf8)
        let section = try #require(text.components(separatedBy: "## Reloading\n").dropFirst().first)
        let listed = try #require(section.components(separatedBy: "- **Need a restart.**").first)
        for declaration in SettingsTable.declarations {
            #expect(
                listed.contains("`\(declaration.name)`") == declaration.isReloadable,
                "\(declaration.name)")
        }
    }

    @Test("SECURITY-MODEL: every response forbids scripts; only a server for other machines sends HSTS")
    func safetyHeaders() {
        func names(_ host: String, _ hasTLS: Bool) -> [String] {
            SafetyHeaders.common(host: host, hasTLS: hasTLS).map(\.name)
        }
        let always = ["X-Content-Type-Options", "Referrer-Policy", "Content-Security-Policy"]
        #expect(names("0.0.0.0", false) == always)
        #expect(names("127.0.0.1", true) == always && names("localhost", true) == always)
        #expect(names("chat.example", true) == always + ["Strict-Transport-Security"])
        #expect(names("::", true) == always + ["Strict-Transport-Security"])
    }
}
