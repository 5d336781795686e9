import ArgumentParser
import CommandSupport
import SignalingProtocol

struct RoomCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "room", abstract: "Print the session id of a room in development mode.",
        discussion: """
            A server in development mode derives the session of a room from its name. Requests of a backend need the \
            session's id:

              SESSION=$(signalbox room lobby)
            """)

    @Argument(help: "The room's name, such as lobby.")
    var name: String

    @OptionGroup var signing: SigningOptions

    func run() async throws {
        let room = try await DevelopmentRoom.find(
            name, on: signing.serverOptions.url(), role: .subscriber, data: "", signer: signing.givenSigner())
        StandardOutput.print(room.sessionId)
    }
}
