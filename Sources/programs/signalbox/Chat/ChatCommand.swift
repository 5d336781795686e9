import ArgumentParser
import CommandSupport
import SignalingClient

struct ChatCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chat", abstract: "Chat in a terminal.",
        discussion: """
            Type a line and press Enter to send it; Ctrl-D leaves. /who lists who is here, /help the commands, and the \
            arrow keys bring back what you have sent. /edit TEXT and /delete change your last message, and /reply TEXT \
            answers the last one of another user. /react KEY reacts to the last message. Below your line you see \
            which users are typing, and who has read your last message. They see the same of \
            you; --no-typing hides that you are typing. --name is the name that others see. With NO_COLOR in the \
            environment there are no colours.

            When standard input or output is a pipe, the command sends each line of the input, at the rate that the \
            server permits, and prints the messages of others that arrive meanwhile as "name: text". A message that is edited or deleted is \
            printed once more, with "(edited)" or as "(deleted)". With --history it \
            prints the messages of before, too. signalbox history prints nothing else.
            """)

    @OptionGroup var session: SessionOptions

    @Flag(help: "Do not show others that you are typing.")
    var noTyping = false

    @Flag(help: "Print the messages of before into a pipe, too. A terminal always shows the newest of them.")
    var history = false

    func run() async throws {
        let access = try await session.access()
        let chatSession = access.session
        let events = chatSession.events
        let outcome = try await Interruption.handle(first: { await chatSession.disconnect() }) {
            try await session.connect(access)
            let alias = session.name.isEmpty ? nil : session.name
            if RawTerminal.isAvailable {
                let chat = await ScreenChat(session: chatSession, alias: alias, isTypingShown: !noTyping)
                return await chat.run(events: events)
            }
            let chat = await PlainChat(
                session: chatSession, alias: alias, showsHistory: history || PlainChat.isInteractive)
            return await chat.run(events: events, lines: InputLines.stream())
        }
        if let outcome { throw outcome }
    }
}
