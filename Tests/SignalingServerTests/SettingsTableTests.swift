import Foundation
import SignalingCore
import SignalingProtocol
import SignalingServer
import Testing

@Suite("The declarations of the settings")
struct SettingsTableTests {
    private static let document = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../docs/CONFIGURATION.md").standardized

    /// The table of docs/CONFIGURATION.md.
    private static var table: String {
        func cell(_ code: String?) -> String { code.map { "`\($0)`" } ?? "" }
        let rows = SettingsTable.declarations.map {
            """
            | \(cell($0.option)) | \(cell($0.variable)) | \(cell($0.fileKey)) | \($0.defaultText) \
            | \($0.rangeText ?? "") | \($0.summary) |
            """
        }
        let header = [
            "| option | variable | in the file | default | range | meaning |", "| --- | --- | --- | --- | --- | --- |",
        ]
        return (header + rows).joined(separator: "\n")
    }

    @Test("docs/CONFIGURATION.md has the table that the declarations give")
    func documented() throws {
        let text = try String(contentsOf: Self.document, encoding: .utf8)
        #expect(text.contains("\n\n" + Self.table + "\n\n"), "The table should be:\n\n\(Self.table)\n")
    }

    @Test("every member of the table is a declaration with the member's name")
    func names() {
        let members = Mirror(reflecting: SettingsTable.shared).children.compactMap(\.label)
        #expect(SettingsTable.declarations.map(\.name) == members)
        #expect(Set(members).count == members.count)
    }

    @Test("option, variable and key follow from the name")
    func spellings() throws {
        func declaration(_ name: String) throws -> SettingDeclaration {
            try #require(SettingsTable.declarations.first { $0.name == name })
        }
        let everywhere = try declaration("allowPartnerAuth")
        #expect(everywhere.option == "--allow-partner-auth")
        #expect(everywhere.variable == "SIGNALBOX_ALLOW_PARTNER_AUTH")
        #expect(everywhere.fileKey == "allowPartnerAuth")
        let outsideFile = try declaration("config")
        #expect(outsideFile.option == "--config" && outsideFile.fileKey == nil)
        let withoutOption = try declaration("feedEntries")
        #expect(withoutOption.option == nil && withoutOption.variable == "SIGNALBOX_FEED_ENTRIES")
    }

    @Test("every variable reaches its setting", arguments: SettingsTable.declarations.compactMap(\.variable))
    func variables(_ variable: String) async throws {
        // A blank value is wrong for each type of setting, so that the error shows that the variable was read.
        let error = await #expect(throws: ConfigurationError.self) {
            try await ServerSettings().configuration(environment: [variable: " "])
        }
        #expect(try #require(error).description.contains("(\(variable))"))
    }

    @Test("a secret's value is in no error", arguments: SettingsTable.declarations.filter(\.isSecret).map(\.name))
    func secrets(_ name: String) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "signalbox-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("{\"\(name)\": [\"hidden\"]}".utf8).write(to: file)
        let error = await #expect(throws: ConfigurationError.self) {
            try await ServerSettings().configuration(environment: ["SIGNALBOX_CONFIG": file.path])
        }
        let message = try #require(error).description
        #expect(message.contains("the setting \(name) is not valid") && !message.contains("hidden"), "\(message)")
    }

    @Test("the defaults in the table are those of an empty configuration")
    func defaults() async throws {
        let configuration = try await ServerSettings().configuration(environment: [:])
        func text(_ name: String) -> String? {
            SettingsTable.declarations.first { $0.name == name }?.defaultText
        }
        let bounds = configuration.sessionBounds
        #expect(text("host") == configuration.host)
        #expect(text("port") == "\(configuration.port)")
        #expect(text("resumeSeconds") == "\(bounds.resumeWindow.components.seconds)")
        #expect(text("recoverySeconds") == "\(bounds.recoveryWindow.components.seconds)")
        #expect(text("logEvents") == "\(bounds.log.eventCount)")
        #expect(text("logBytes") == "\(bounds.log.byteCount)")
        #expect(text("sessionConnections") == "\(bounds.connectionCount)")
        #expect(text("onlineOnlyLimit") == "\(bounds.onlineOnlyConnectionCount)")
        #expect(text("mergeMilliseconds") == "\(configuration.mergeTime.wholeMilliseconds)")
        #expect(text("drainSeconds") == "\(configuration.drainTime.components.seconds)")
    }
}
