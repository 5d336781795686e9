import FoundationEssentials
import SignalingTransport

extension ServerSettings {
    /// Checks what a server would refuse at its start, without opening a socket or creating anything.
    ///
    /// - Parameter warn: gets sentences about what is no fault, but seldom meant.
    /// - Throws: ``ConfigurationError`` with all faults.
    package func check(environment: [String: String], warn: (String) -> Void = { _ in }) async throws {
        var (settings, faults) = await read(environment: environment)
        settings.warnings.forEach(warn)
        let configuration = settings.configuration(&faults)
        configuration.check(&faults)
        _ = configuration.readFiles(&faults)
        if let tls = configuration.tls { faults.check(["tlsCert", "tlsKey"]) { try tls.check() } }
        if let folder = configuration.stateFolder { faults.check(["stateDir"]) { try Self.check(folder) } }
        do { try faults.finish() } catch { throw error.located(settings.places) }
    }

    /// The server creates the folder, but not its parent.
    private static func check(_ folder: String) throws {
        let files = FileManager.default
        var isFolder: Bool = false
        if files.fileExists(atPath: folder, isDirectory: &isFolder) {
            guard isFolder, files.isWritableFile(atPath: folder) else {
                throw ConfigurationError(
                    "the state folder \(folder) cannot be written. Give a folder of the server's user.")
            }
        } else {
            let parent = URL(filePath: folder).deletingLastPathComponent().path
            guard files.fileExists(atPath: parent, isDirectory: &isFolder), isFolder else {
                throw ConfigurationError(
                    "the state folder \(folder) cannot be created: \(parent) is no folder. Create it first.")
            }
        }
    }
}

extension ServerConfiguration {
    /// What the values of several settings must not say together.
    func check(_ faults: inout FaultCollector) {
        faults.check(["port"]) {
            guard (0...65_535).contains(port) else {
                throw ConfigurationError("the port is \(port). Use a number from 0 to 65535.")
            }
        }
        let isDevelopment = faults.collect(ResolvedSettings.projectNames) { try access.projects() == nil } ?? false
        if isDevelopment { checkDevelopment(&faults) }
        if isShared, !isDevelopment {
            faults.check(ResolvedSettings.projectNames.union(["share"])) {
                throw ConfigurationError(
                    "only development mode can be shared, and the server has projects. Remove --share, or the "
                        + "credentials and projects.")
            }
        }
        guard let admin, admin.token == nil else { return }
        faults.check(["adminHost", "adminToken"]) {
            guard ServerConfiguration.isLoopback(admin.host) else {
                throw ConfigurationError(
                    "the admin listener on \(admin.host) can be reached from other machines. Give --admin-token, or "
                        + "use a loopback address.")
            }
        }
        faults.check(["adminPort", "adminToken", "trustedProxy"]) {
            guard admission.trustedProxies.isEmpty else {
                throw ConfigurationError(
                    "the admin listener has no token, and the clients of a trusted proxy could reach it through the "
                        + "proxy. Give --admin-token.")
            }
        }
    }

    private func checkDevelopment(_ faults: inout FaultCollector) {
        faults.check(["host"]) {
            guard ServerConfiguration.isLoopback(host) || isShared else {
                throw ConfigurationError(
                    "development mode gives tokens to every client, so it cannot listen on \(host). Use a loopback "
                        + "address, or --share for the local network, or give an API key and a secret.")
            }
        }
        faults.check(["host", "share"]) {
            guard isShared, ServerConfiguration.isLoopback(host) else { return }
            throw ConfigurationError(
                "other devices cannot reach \(host), so the server cannot be shared there. Remove --host, or give an "
                    + "address of your network.")
        }
        faults.check(["trustedProxy"]) {
            guard admission.trustedProxies.isEmpty else {
                throw ConfigurationError(
                    "development mode gives tokens to every client on this machine, and a trusted proxy brings clients "
                        + "of other machines. Remove --trusted-proxy, or give an API key and a secret.")
            }
        }
    }

    /// The files of the web folder, or of the program.
    func readFiles(_ faults: inout FaultCollector) -> StaticFiles {
        faults.collect(["webRoot"]) {
            do {
                return try webRoot.map(StaticFiles.init(folder:)) ?? webFiles.map(StaticFiles.init(archive:))
                    ?? StaticFiles()
            } catch {
                throw ConfigurationError("the web folder cannot be used: \(error)")
            }
        } ?? StaticFiles()
    }
}

extension FaultCollector {
    /// Unlike ``collect(_:_:)``, a fault here says nothing about other checks of the same settings.
    mutating func check(_ settings: Set<String>, _ work: () throws -> Void) {
        guard unusable.isDisjoint(with: settings) else { return }
        do { try work() } catch {
            let text = (error as? TransportError)?.message ?? "\(error)"
            add(ConfigurationError([.init(text: text, settings: settings.sorted())]))
        }
    }
}
