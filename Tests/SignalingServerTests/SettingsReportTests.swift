import Foundation
import JSONText
import Testing

@testable import SignalingServer

@Suite("The effective settings")
struct SettingsReportTests {
    private func withFile<Value>(_ text: String, _ body: (String) async throws -> Value) async throws -> Value {
        let file = FileManager.default.temporaryDirectory.appending(path: "signalbox-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(text.utf8).write(to: file)
        return try await body(file.path)
    }

    @Test("each value has its source, and no secret is shown")
    func sources() async throws {
        try await withFile(#"{"resumeSeconds": 5, "recoverySeconds": 6, "//port": "a comment"}"#) { path in
            var settings = ServerSettings()
            settings.port = 9000
            let report = try await settings.report(environment: [
                "SIGNALBOX_CONFIG": path, "SIGNALBOX_PORT": "1", "SIGNALBOX_RECOVERY_SECONDS": "7",
                "SIGNALBOX_API_KEY": "100", "SIGNALBOX_API_SECRET": "hidden",
            ])
            func row(_ name: String) -> [String] {
                report.rows.filter { $0.name == name }.flatMap { [$0.value, $0.source] }
            }
            #expect(row("port") == ["9000", "--port"])
            #expect(row("recoverySeconds") == ["7", "SIGNALBOX_RECOVERY_SECONDS"])
            #expect(row("resumeSeconds") == ["5", "\"resumeSeconds\" in \(path)"])
            #expect(row("drainSeconds") == ["5", "default"])
            #expect(row("apiSecret") == [SettingsReport.mask, "SIGNALBOX_API_SECRET"])
            #expect(!report.json.contains("hidden"))
            #expect(report.rows.map(\.name) == SettingsTable.declarations.map(\.name))
        }
    }

    @Test("every secret of the table can be in a file", arguments: SettingsTable.declarations.filter(\.isSecret))
    func secretFiles(_ declaration: SettingDeclaration) async throws {
        let (variable, fileVariable) = (try #require(declaration.variable), try #require(declaration.fileVariable))
        #expect(fileVariable == variable + "_FILE")
        try await withFile("from the file\r\n") { path in
            var faults = FaultCollector()
            let (values, names) = SecretFiles.resolve([fileVariable: path], &faults)
            #expect(values[variable] == "from the file" && names[declaration.name] == "\(fileVariable) \(path)")
            #expect(faults.faults.isEmpty)
            _ = SecretFiles.resolve([fileVariable: path, variable: "given"], &faults)
            #expect(faults.faults.count == 1 && faults.unusable == [declaration.name])
        }
        var faults = FaultCollector()
        _ = SecretFiles.resolve([fileVariable: "/nowhere/at/all"], &faults)
        #expect(faults.faults.count == 1 && faults.unusable == [declaration.name])
    }

    @Test("the example is a valid file that names every setting of a file")
    func example() async throws {
        let text = SettingsExample.text(secret: "secret")
        let object = try #require(try JSONValue(parsing: Array(text.utf8)).objectValue)
        for key in SettingsTable.declarations.compactMap(\.fileKey) {
            #expect(object[key] != nil || object["//" + key] != nil, "\(key)")
        }
        let configuration = try await withFile(text) { path in
            try await ServerSettings().configuration(environment: ["SIGNALBOX_CONFIG": path])
        }
        #expect(configuration.admin?.port == 9091)
        #expect(object["history"] == "text-chat,TextChat")
    }

    @Test("a variable that is no setting is named with the nearest one")
    func unknown() {
        let warnings = GivenVariables([
            "SIGNALBOX_PROT": "1", "SIGNALBOX_PORT": "1", "SIGNALBOX_API_SECRET_FILE": "x", "SIGNALBOX_SERVER": "x",
            "HOME": "/",
        ]).warnings
        #expect(warnings.count == 1)
        #expect(warnings.first?.contains("SIGNALBOX_PROT is no setting") == true)
        #expect(warnings.first?.contains("Did you mean SIGNALBOX_PORT?") == true)
    }
}
