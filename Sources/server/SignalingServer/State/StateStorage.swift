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
    let revocations: any RevocationStore
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
            let revocations = FileRevocations(
                try folder.revocations(), logger: logger,
                check: { [loop] done in loop.runInBackground({ folder.hasRevocations }, then: done) }
            ) { [loop] file, steps, done in
                loop.runInBackground(
                    { () -> FileFault? in
                        do throws(FileFault) { try folder.write(file, appending: steps) } catch { return error }
                        return nil
                    }, then: done)
            }
            return StateStorage(
                folder: folder, sessions: sessions, revocations: revocations, developmentSecret: secret,
                kind: .folder(path))
        }
        if let shared {
            let sessions = SessionHost.shared(shared.log, shared.archive, configuration, now: loop.now, logger: logger)
            return StateStorage(
                folder: nil, sessions: sessions, revocations: RedisRevocations(shared.revocations),
                developmentSecret: developmentSecret, kind: .memory(nil))
        }
        if let path = configuration.stateFolder { return try durable(path) }
        var obstacle: StateFolderError?
        if developmentSecret != nil, let path = configuration.developmentFolder {
            do throws(StateFolderError) { return try durable(path) } catch { obstacle = error }
        }
        return StateStorage(
            folder: nil, sessions: .inMemory(configuration, loop: loop), revocations: MemoryRevocations(),
            developmentSecret: developmentSecret, kind: .memory(obstacle))
    }
}

/// What servers share in Redis.
struct SharedStore {
    /// Open.
    let log: RedisCommandLog
    let archive: RedisArchive
    /// Being read, or open.
    let revocations: RedisRevocationTable
}

/// Where the state of development mode is.
public enum DevelopmentStorage: Sendable {
    /// In this folder: the next server continues with it.
    case folder(String)
    /// In memory, for this run only. The error says why ``ServerConfiguration/developmentFolder`` cannot be used.
    case memory(StateFolderError?)
}
