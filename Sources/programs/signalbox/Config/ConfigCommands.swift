import ArgumentParser
import CommandSupport
import FoundationEssentials
import Glibc
import SignalingProtocol
import SignalingServer

struct ConfigCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Check, print and create configurations of the server.",
        subcommands: [Check.self, Print.self, Init.self])

    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check", abstract: "Check a configuration file, without starting a server.",
            discussion: """
                Reads the file and the environment as `signalbox serve --config FILE` does, and checks what can be \
                checked without a server: names, values, keys of applications, certificate and key, folders. Prints \
                each fault in one line and exits with 78. A variable that is no setting is a warning.
                """)

        @Argument(help: "The configuration file.", completion: .file(extensions: ["json"])) var file: String

        func run() async throws {
            var settings = ServerSettings()
            settings.config = file
            let environment = ProcessInfo.processInfo.environment
            do {
                try await settings.check(environment: environment) { StandardError.print("signalbox: warning: \($0)") }
            } catch let error as ConfigurationError {
                throw ExitStatus.exit(ExitStatus.configuration, error)
            }
            StandardOutput.print("the configuration is valid")
        }
    }

    struct Print: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "print", abstract: "Print the effective settings, and where each value comes from.",
            discussion: "Accepts the options of `signalbox serve`. Secrets are masked.")

        @OptionGroup var options: SettingOptions
        @Flag(help: "Print one JSON object.") var json = false
        @Flag(help: "Print only settings that differ from their defaults.") var changed = false

        func run() async throws {
            do {
                let report = try await options.settings.report(environment: ProcessInfo.processInfo.environment)
                if json { return StandardOutput.print(json: report.json) }
                var table = TextTable([.left("SETTING"), .left("VALUE"), .left("SOURCE")])
                for row in report.rows where !changed || row.source != "default" {
                    table.append([row.name, row.value, row.source])
                }
                StandardOutput.print(table.lines.joined(separator: "\n"))
                for warning in report.warnings { StandardError.print("signalbox: warning: \(warning)") }
            } catch let error as ConfigurationError {
                throw ExitStatus.exit(ExitStatus.configuration, error)
            }
        }
    }

    struct Init: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "init", abstract: "Print a commented configuration file with a new random secret.",
            discussion: """
                Names that begin with // are comments. Redirect the output into a file that only the server's user may \
                read:

                  (umask 077; signalbox config init > signalbox.json)
                """)

        func run() {
            var randomness = SystemRandomNumberGenerator()
            let secret = ResumeSecret(using: &randomness).rawValue
            StandardOutput.write(SettingsExample.text(secret: secret))
        }
    }
}
