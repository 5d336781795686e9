import Dispatch
import Foundation
import OpenTok
import Testing
import VerificationTools

/// A user of OpenTok's text-chat sample, written as OpenTok's documentation describes it.
private final class ChatUser: NSObject, OTSessionDelegate, OTKTextChatDelegate, @unchecked Sendable {
    // Unchecked: used on the session's queue only, except for the session itself.

    let session: OTSession
    private var textChat: OTKTextChatComponent?
    private let changed: AsyncStream<[String]>.Continuation
    /// The rows of the list after each change.
    let lists: AsyncStream<[String]>

    init(_ room: Room) {
        (lists, changed) = AsyncStream.makeStream()
        let settings = OTSessionSettings()
        settings.apiURL = room.url
        session = OTSession(apiKey: Room.apiKey, sessionId: room.sessionId, delegate: nil, settings: settings)!
        super.init()
        session.delegate = self
        session.apiQueue = DispatchQueue(label: "chat user")
    }

    func connect(_ token: String) -> OTError? {
        var error: OTError?
        session.connect(withToken: token, error: &error)
        return error
    }

    func type(_ text: String) async -> Bool {
        await withCheckedContinuation { done in
            session.apiQueue.async {
                let wasSent = self.textChat?.send(text) ?? false
                self.publish()
                done.resume(returning: wasSent)
            }
        }
    }

    private func publish() {
        changed.yield(
            (textChat?.rows ?? []).compactMap { row in
                row.message.map { "\(row.kind) \($0.senderAlias ?? "-"): \($0.text ?? "-")" }
            })
    }

    func sessionDidConnect(_ session: OTSession) {
        let textChat = OTKTextChatComponent()
        textChat.delegate = self
        textChat.setMaxLength(1005)
        textChat.setSenderId(session.connection?.connectionId, alias: session.connection?.data)
        self.textChat = textChat
        publish()
    }

    func onMessageReady(toSend message: OTKChatMessage!) -> Bool {
        var error: OTError?
        session.signal(withType: "TextChat", string: message.text, connection: nil, error: &error)
        return error == nil
    }

    func session(
        _ session: OTSession, receivedSignalType type: String?, from connection: OTConnection?, with string: String?
    ) {
        if connection?.connectionId != session.connection?.connectionId {
            let message = OTKChatMessage()
            message.senderAlias = connection?.data
            message.senderId = connection?.connectionId
            message.text = string
            textChat?.addMessage(message)
            publish()
        }
    }

    func sessionDidDisconnect(_ session: OTSession) { changed.finish() }
    func session(_ session: OTSession, didFailWithError error: OTError) { Issue.record(error) }
    func session(_ session: OTSession, streamCreated stream: OTStream) {}
    func session(_ session: OTSession, streamDestroyed stream: OTStream) {}
}

@Suite("OpenTok's text-chat sample", .timeLimit(.minutes(5)))
struct SampleTests {
    @Test("two users of the sample chat; an own message is shown once; 1005 characters are allowed")
    func conversation() async throws {
        try await Room.run { room in
            let (ada, bob) = (ChatUser(room), ChatUser(room))
            var (adas, bobs) = (ada.lists.makeAsyncIterator(), bob.lists.makeAsyncIterator())
            let (adasToken, bobsToken) = (try room.token("Ada"), try room.token("Bob"))
            #expect(ada.connect(adasToken) == nil)
            var list = await adas.next(isolation: #isolation)
            #expect(list == [])
            #expect(bob.connect(bobsToken) == nil)
            list = await bobs.next(isolation: #isolation)
            #expect(list == [])

            #expect(await ada.type("hello"))
            list = await adas.next(isolation: #isolation)
            #expect(list == ["sent Ada: hello"])
            list = await bobs.next(isolation: #isolation)
            #expect(list == ["received Ada: hello"])

            #expect(await bob.type("hi"))
            list = await bobs.next(isolation: #isolation)
            #expect(list == ["received Ada: hello", "sent Bob: hi"])
            list = await adas.next(isolation: #isolation)
            #expect(list == ["sent Ada: hello", "received Bob: hi"])

            #expect(await !ada.type(String(repeating: "a", count: 1006)))
            list = await adas.next(isolation: #isolation)
            #expect(list == ["sent Ada: hello", "received Bob: hi"])
            let longest = String(repeating: "a", count: 1005)
            #expect(await ada.type(longest))
            list = await bobs.next(isolation: #isolation)
            #expect(list?.last == "received Ada: \(longest)")
        }
    }

    @Test("the example program sends its input, shows the messages of others, and disconnects at the end of its input")
    func program() async throws {
        let folder = try #require(Bundle.main.executableURL).resolvingSymlinksInPath().deletingLastPathComponent()
        try await Room.run { room in
            let ada = try await room.join("Ada")
            let (input, output) = (Pipe(), Pipe())
            let program = try ChildProcess(
                folder.appending(path: "opentok-text-chat"), [Room.apiKey, room.sessionId, try room.token("Bob")],
                environment: ["SIGNALBOX_SERVER": room.url.absoluteString],
                input: .handle(input.fileHandleForReading),
                output: .handle(output.fileHandleForWriting))
            try input.fileHandleForReading.close()
            try output.fileHandleForWriting.close()
            // The program ends with the test, also when the test fails.
            defer { program.killAndWait() }

            #expect(try await ada.next() == .created("Bob"))
            try input.fileHandleForWriting.write(contentsOf: Data("hello from a terminal\n".utf8))
            #expect(
                try await ada.next() == .signal(type: "TextChat", from: "Bob", string: "hello from a terminal"))
            #expect(ada.signal("other", "not for the chat") == nil)
            #expect(ada.signal("TextChat", "hi Bob") == nil)
            #expect(try await ada.next() == .signal(type: "other", from: "Ada", string: "not for the chat"))
            #expect(try await ada.next() == .signal(type: "TextChat", from: "Ada", string: "hi Bob"))
            // Reading blocks, so it has a thread of its own.
            let lines = await withTaskCancellationHandler {
                await withCheckedContinuation { done in
                    Thread.detachNewThread {
                        var text = ""
                        while case let data = output.fileHandleForReading.availableData, !data.isEmpty {
                            text += String(decoding: data, as: UTF8.self)
                            if text.contains("Ada: hi Bob\n") { try? input.fileHandleForWriting.close() }
                        }
                        _ = program.waitUntilExit()
                        done.resume(returning: text.split(separator: "\n").map(String.init))
                    }
                }
            } onCancel: {
                program.signal(SIGTERM)
            }
            #expect(lines == ["* connected", "* Ada is here", "Ada: hi Bob", "* disconnected"])
            #expect(program.waitUntilExit() == .exited(0))
            #expect(try await ada.next() == .destroyed("Bob"))
        }
    }
}
