import ArgumentParser
import CommandSupport
import SignalingCryptography
import SignalingServer

@main
struct Lab: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signalbox-lab",
        abstract: "Test the promises of Signalbox on your machine, and what your server carries.",
        discussion: """
            `signalbox-lab verify` starts servers of its own, with the program `signalbox` beside this one, and breaks \
            their networks. `signalbox-lab bench` puts a bounded load on your own server.
            """,
        version: ServerVersion.text,
        subcommands: [VerifyCommand.self, BenchCommand.self])

    static func main() async {
        StandardStreams.prepare()
        OpenSSLCleanup.turnOff()
        await main(nil)
    }
}
