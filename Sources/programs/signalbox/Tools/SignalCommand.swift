import ArgumentParser
import CommandSupport
import SignalingClient
import SignalingProtocol

struct SignalCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signal", abstract: "Send one signal, and wait for the acknowledgement.",
        discussion: "Prints the signal's sequence number (seq).")

    @OptionGroup var session: SessionOptions

    @Option(help: "The signal's type: at most 128 letters, digits or characters - . _ ~")
    var type: String?

    @Option(help: "The signal's data: text of at most 8192 UTF-16 code units.")
    var data: String?

    @Option(help: "The id of the connection to send to. (default: all connections)")
    var to: String?

    func run() async throws {
        guard type != nil || data != nil else {
            throw ExitStatus.exit(
                ExitStatus.usage,
                "the signal has neither a type nor data. Give --data with the text, --type with its kind, or both.")
        }
        let access = try await session.access()
        try await session.connect(access)
        do {
            let seq = try await access.session.send(
                SignalRequest(type: type, data: data, to: to.map { ConnectionID($0) }))
            if let seq { StandardOutput.print("\(seq)") }
        } catch {
            await access.session.disconnect()
            throw ExitStatus.exit(error)
        }
        await access.session.disconnect()
    }
}
