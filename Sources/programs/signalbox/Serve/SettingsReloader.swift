import FoundationEssentials
import Glibc
import Logging
import SignalingServer
import SignalingTransport

/// Reads the settings of a running server again on SIGHUP: all of the changes take effect, or none.
struct SettingsReloader {
    let options: ServerSettings
    let server: SignalingServer
    /// Learns about each reload. `nil`: no service manager wants to.
    let notifier: ServiceNotifier?
    let logger: Logger
    let level: LogLevel
    /// The settings in use.
    var current: ResolvedSettings

    mutating func reload() async {
        notifier?.reloadBegan()
        // In two steps: without a notifier, Swift would not evaluate the argument.
        let status = await readAgain()
        notifier?.reloadEnded(status)
    }

    /// - Returns: what has come of it, in a few words.
    private mutating func readAgain() async -> String {
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
            return "reloaded the settings"
        } catch let error as ConfigurationError {
            return refuse(error.description)
        } catch let error as TransportError {
            return refuse(error.message)
        } catch {
            return refuse("\(error)")
        }
    }

    private func refuse(_ reason: String) -> String {
        logger.error("refused to reload the settings, and nothing has changed: \(reason)")
        return "refused to reload the settings; the log says why"
    }
}

extension Logger.Level {
    /// The level of the settings; `info` without one.
    init(settings: ServerSettings) {
        self = settings.logLevel.flatMap { Logger.Level(rawValue: $0.lowercased()) } ?? .info
    }
}
