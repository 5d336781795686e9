import Foundation
import Logging
import SignalingServer
import SignalingTransport

/// Reads the settings of a running server again on SIGHUP: all of the changes take effect, or none.
struct SettingsReloader {
    let options: ServerSettings
    let server: SignalingServer
    let logger: Logger
    let level: LogLevel
    /// The settings in use.
    var current: ResolvedSettings

    mutating func reload() async {
        do {
            let new = try await options.resolved(environment: ProcessInfo.processInfo.environment)
            let (settings, change) = try current.reloaded(as: new)
            var configuration = try settings.configuration()
            // A new project with a receiver of its own has no webhooks until a restart, rather than those of others.
            configuration.projectWebhooks = new.projectWebhooks
            let isNewCertificate = try await server.reload(configuration)
            current = settings
            level.value = Logger.Level(settings: settings.values)
            let changed = change.applied + (isNewCertificate ? ["the certificate"] : [])
            logger.notice(
                "reloaded the settings",
                metadata: ["changed": "\(changed.isEmpty ? "nothing" : changed.joined(separator: ", "))"])
            if !change.needRestart.isEmpty {
                logger.warning(
                    "restart the server to change these settings",
                    metadata: ["settings": "\(change.needRestart.joined(separator: ", "))"])
            }
        } catch let error as ConfigurationError {
            refuse(error.description)
        } catch let error as TransportError {
            refuse(error.message)
        } catch {
            refuse("\(error)")
        }
    }

    private func refuse(_ reason: String) {
        logger.error("refused to reload the settings, and nothing has changed: \(reason)")
    }
}

extension Logger.Level {
    /// The level of the settings; `info` without one.
    init(settings: ServerSettings) {
        self = settings.logLevel.flatMap { Logger.Level(rawValue: $0.lowercased()) } ?? .info
    }
}
