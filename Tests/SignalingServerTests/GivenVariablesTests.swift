import Foundation
import Testing

@testable import SignalingServer

@Suite("Variables and files of secrets as platforms and editors write them")
struct GivenVariablesTests {
    /// What Kubernetes sets for the Services `signalbox` and `signalbox-admin`.
    static let services = [
        "SIGNALBOX_PORT": "tcp://10.0.0.1:8080", "SIGNALBOX_SERVICE_HOST": "10.0.0.1", "SIGNALBOX_SERVICE_PORT": "8080",
        "SIGNALBOX_SERVICE_PORT_HTTP": "8080", "SIGNALBOX_PORT_8080_TCP": "tcp://10.0.0.1:8080",
        "SIGNALBOX_PORT_8080_TCP_PROTO": "tcp", "SIGNALBOX_PORT_8080_TCP_PORT": "8080",
        "SIGNALBOX_PORT_8080_TCP_ADDR": "10.0.0.1", "SIGNALBOX_ADMIN_PORT": "tcp://[fd00::1]:9091",
        "SIGNALBOX_ADMIN_SERVICE_HOST": "fd00::1", "SIGNALBOX_ADMIN_SERVICE_PORT": "9091",
        "SIGNALBOX_ADMIN_PORT_9091_TCP": "tcp://[fd00::1]:9091",
    ]

    private func settings(_ environment: [String: String]) async throws -> ResolvedSettings {
        try await ServerSettings().resolved(environment: environment)
    }

    @Test("variables that Kubernetes sets for a Service named signalbox have no effect, and one warning names them")
    func services() async throws {
        let settings = try await settings(Self.services)
        #expect(settings.values.port == nil && settings.values.adminPort == nil)
        #expect(try settings.configuration().port == 8080)
        #expect(settings.warnings.count == 1, "\(settings.warnings)")
        #expect(settings.warnings[0].hasPrefix("SIGNALBOX_ADMIN_PORT and 11 more variables describe a service"))
        let one = GivenVariables(["SIGNALBOX_PORT": "udp://10.0.0.1:8080"]).warnings
        #expect(one.first?.hasPrefix("SIGNALBOX_PORT describes a service") == true, "\(one)")
    }

    @Test(
        "a wrong value that no platform writes is still an error", arguments: ["tcp", "http://10.0.0.1:8080", "tcp:/x"])
    func wrongPort(_ value: String) async {
        await #expect(throws: ConfigurationError.self) { try await settings(["SIGNALBOX_PORT": value]) }
    }

    @Test("an empty variable counts as not given, whatever its setting is")
    func empty() async throws {
        let optional = SettingsTable.declarations.filter { !Self.needed.contains($0.name) && $0.variable != nil }
        for declaration in optional {
            for variable in [declaration.variable, declaration.fileVariable].compactMap(\.self) {
                let settings = try await settings([variable: ""])
                #expect(settings.values.values.isEmpty, "\(variable)")
                #expect(settings.warnings == ["empty variables count as not given: \(variable)"])
            }
        }
        #expect(
            try await settings(["SIGNALBOX_REDIS": "", "SIGNALBOX_DEV": ""]).warnings.first?.contains(
                ": SIGNALBOX_DEV, SIGNALBOX_REDIS") == true)
    }

    private static let needed = ["apiKey", "apiSecret", "adminToken", "webhookSecret", "allowedOrigins", "config"]

    @Test("an empty variable of a setting that protects the server is an error", arguments: needed)
    func protecting(_ name: String) async throws {
        let declaration = try #require(SettingsTable.declarations.first { $0.name == name })
        for variable in [declaration.variable, declaration.fileVariable].compactMap(\.self) {
            await #expect(throws: ConfigurationError.self, "\(variable)") { try await settings([variable: ""]) }
        }
    }

    private func withFile(_ bytes: [UInt8], _ body: (String) async throws -> Void) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "signalbox-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(bytes).write(to: file)
        try await body(file.path)
    }

    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    @Test("a byte order mark at the beginning of a configuration file or a secret file does not count")
    func byteOrderMark() async throws {
        try await withFile(Self.mark + #"{"port": 7}"#.utf8) { path in
            let settings = try await settings(["SIGNALBOX_CONFIG": path])
            #expect(settings.values.port == 7)
        }
        try await withFile(Self.mark + "secret\r\n".utf8) { path in
            let secret = try SecretFiles.value(of: "S", in: ["S_FILE": path])
            #expect(secret == "secret")
        }
        try await withFile(Self.mark) { path in
            _ = #expect(throws: ConfigurationError.self) { try SecretFiles.value(of: "S", in: ["S_FILE": path]) }
        }
    }

    @Test("a secret file that is not UTF-8, as one in UTF-16, is an error that names it")
    func otherEncoding() async throws {
        try await withFile([0xFF, 0xFE, 0x73, 0]) { path in
            let error = #expect(throws: ConfigurationError.self) {
                try SecretFiles.value(of: "S", in: ["S_FILE": path])
            }
            #expect(error?.description == "the file \(path) (S_FILE) is not text in UTF-8. Save it as UTF-8.")
        }
    }

    @Test(
        "blanks at the ends of a secret are said with the place of the secret, and without the secret",
        arguments: [
            ("hidden \n", true), (" hidden", true), ("hidden\n\n", true), ("\thidden", true), ("hid den\n", false),
        ])
    func blanks(_ text: String, _ isSaid: Bool) async throws {
        try await withFile(Array(text.utf8)) { path in
            let settings = try await settings(["SIGNALBOX_ADMIN_TOKEN_FILE": path, "SIGNALBOX_ADMIN_PORT": "0"])
            #expect(settings.warnings.count == (isSaid ? 1 : 0))
            for warning in settings.warnings {
                #expect(
                    warning.contains("SIGNALBOX_ADMIN_TOKEN_FILE \(path)") && !warning.contains("hid"), "\(warning)")
            }
        }
    }
}
