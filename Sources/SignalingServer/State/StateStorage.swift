import Logging
import SignalingCore
import SignalingRedis
import SignalingSQLite
import SignalingTransport

/// What a server has opened to keep its state: its sessions, and in development mode its secret.
///
/// Confined to the loop.
struct StateStorage {
    /// Locked for as long as the server runs. `nil`: the state is in memory.
    let folder: StateFolder?
    let sessions: SessionHost
    let developmentSecret: String?
    let kind: DevelopmentStorage

    /// Whether the sessions continue after the end of this process.
    var outlivesProcess: Bool {
        switch sessions.store {
        case .memory: false
        case .folder, .redis: true
        }
    }

    /// Opens the state folder of the configuration. Development mode has another one to fall back to, and then memory.
    ///
    /// - Parameters:
    ///   - developmentSecret: a new secret in development mode, otherwise `nil`.
    ///   - shared: what is in Redis, if several servers share the sessions.
    static func open(
        configuration: ServerConfiguration, developmentSecret: String?, shared: SharedStore?, loop: LoopThread,
        logger: Logger,
        onFault: @escaping (StateFolderError) -> Void
    ) throws(StateFolderError) -> StateStorage {
        func durable(_ path: String) throws(StateFolderError) -> StateStorage {
            let folder = try StateFolder(path: path)
            var secret: String?
            if let developmentSecret { secret = try folder.developmentSecret(orNew: developmentSecret) }
            let sessions = try SessionHost.durable(
                folder: path, configuration, loop: loop, logger: logger, onFault: onFault)
            return StateStorage(folder: folder, sessions: sessions, developmentSecret: secret, kind: .folder(path))
        }
        if let shared {
            let sessions = SessionHost.shared(shared.log, shared.archive, configuration, now: loop.now, logger: logger)
            return StateStorage(
                folder: nil, sessions: sessions, developmentSecret: developmentSecret, kind: .memory(nil))
        }
        if let path = configuration.stateFolder { return try durable(path) }
        var obstacle: StateFolderError?
        if developmentSecret != nil, let path = configuration.developmentFolder {
            do throws(StateFolderError) { return try durable(path) } catch { obstacle = error }
        }
        return StateStorage(
            folder: nil, sessions: .inMemory(configuration, loop: loop), developmentSecret: developmentSecret,
            kind: .memory(obstacle))
    }
}

/// What servers share in Redis.
struct SharedStore {
    /// Open.
    let log: RedisCommandLog
    let archive: RedisArchive
}

/// Where the state of development mode is.
public enum DevelopmentStorage: Sendable {
    /// In this folder: the next server continues with it.
    case folder(String)
    /// In memory, for this run only. The error says why ``ServerConfiguration/developmentFolder`` cannot be used.
    case memory(StateFolderError?)
}
