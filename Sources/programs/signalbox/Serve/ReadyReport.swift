import CommandSupport
import Glibc
import SignalingProtocol
import SignalingServer
import Synchronization

/// What the server prints when it is ready, and the credentials that it leaves for the tools while it runs.
final class ReadyReport: Sendable {
    private let left = Mutex<(credentials: LocalCredentials, port: Int)?>(nil)

    private let begun = Mutex(false)

    /// Whether the server has accepted connections.
    var hasBegun: Bool { begun.withLock(\.self) }

    func begin(at address: SignalingServer.Address, hasPage: Bool, isShared: Bool) {
        begun.withLock { $0 = true }
        // Programs wait for the ready line, and may use the tools at once.
        let obstacle = address.developmentSecret.flatMap { leave($0, port: address.port) }
        StandardOutput.announce("signalbox is ready at \(address.localURL)")
        if let url = address.adminURL { StandardOutput.announce("administration is at \(url)") }
        if !hasPage {
            StandardOutput.announce(
                "no page: this build has none inside. Run scripts/build web and build it again, or give the folder "
                    + "web-test-client with --web-root.")
        }
        guard let secret = address.developmentSecret else { return }
        StandardOutput.announce(
            "development mode: every client gets a token at \(address.localURL)session. Backends use this project:")
        StandardOutput.announce(
            "export SIGNALBOX_API_KEY=\(SignalingServer.developmentKey) SIGNALBOX_API_SECRET=\(secret)")
        if let obstacle {
            StandardOutput.announce("the tools do not find these credentials by themselves: \(obstacle)")
        }
        switch address.keeping {
        case .folder(let path): StandardOutput.announce("rooms are kept for the next server in \(path)")
        case .memory(let error?): StandardOutput.announce("rooms are kept in memory for this run: \(error)")
        case .memory(nil): break
        }
        if isShared { announceShare(address) }
    }

    /// How a phone on the same Wi-Fi joins: in one step, by the camera.
    private func announceShare(_ address: SignalingServer.Address) {
        let links = address.links(at: LocalAddresses.all())
        guard let link = links.first else {
            return StandardOutput.announce(
                "this machine has no address on a local network, so other devices cannot join. Connect it to a Wi-Fi and "
                    + "start the server again.")
        }
        StandardOutput.announce("on a phone on the same Wi-Fi, scan this code or open \(link)")
        let lines = QRCode(link)?.lines(hasColours: isatty(STDOUT_FILENO) == 1) ?? []
        for line in lines { StandardOutput.announce(line) }
        if links.count > 1 {
            StandardOutput.announce("if it does not load, try \(links.dropFirst().joined(separator: " or "))")
        }
    }

    /// The server has ended.
    func end() {
        left.withLock { $0 }.map { $0.credentials.remove(port: $0.port) }
    }

    /// - Returns: why they cannot be left; `nil` when they are.
    private func leave(_ secret: String, port: Int) -> String? {
        let credentials = LocalCredentials(apiKey: SignalingServer.developmentKey.rawValue, apiSecret: secret)
        left.withLock { $0 = (credentials, port) }
        return credentials.leave(port: port)
    }
}

extension ServerConfiguration {
    /// Keeps the state of development mode in a folder of the user's, one for each port.
    ///
    /// A server that picks a free port gets another one in its next run, so it keeps nothing.
    mutating func keepDevelopmentState() {
        guard case .development = access, stateFolder == nil, port != 0, let folder = UserState.folder() else { return }
        UserState.create(folder)
        developmentFolder = "\(folder)/\(port)"
    }
}
