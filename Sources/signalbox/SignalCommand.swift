import ArgumentParser
import SignalingClient
import SignalingProtocol

struct SignalCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signal", abstract: "Send one signal, and end when the server has acknowledged it.",
        discussion: "Prints the signal's place in the session's order.")

    @OptionGroup var session: SessionOptions

    @Option(help: "The signal's type: up to 128 letters, digits, or characters - . _ ~")
    var type: String?

    @Option(help: "The signal's data: any text of up to 8192 UTF-16 units.")
    var data: String?

    @Option(help: "The connection id to send it to; without one it goes to everybody.")
    var to: String?

    func run() async throws {
        let access = try await session.access()
        try await session.connect(access)
        do {
            let seq = try await access.session.send(
                SignalRequest(type: type, data: data, to: to.map { ConnectionID($0) }))
            if let seq { print(seq) }
        } catch {
            await access.session.disconnect()
            throw ExitStatus.exit(error)
        }
        await access.session.disconnect()
    }
}
