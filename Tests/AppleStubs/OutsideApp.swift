// Not a stand-in: an app of somebody else, with its habits. scripts/check apple compiles it with the flags of apps.
import Foundation
import OpenTok
import SignalingClient
import SwiftUI
import TextChat
import TextChatUI
import UIKit

@MainActor
final class Rooms: NSObject, OTSessionDelegate {
    private let session = Session(apiKey: "100", sessionId: "a session ID", server: "https://chat.example.com")
    private let model = ChatModel(outbox: nil, room: "a session ID")
    private var legacy: OTSession?

    func chat() async {
        await model.run(session, token: Backend.token)
    }

    func listen() async throws {
        try await session.connect(token: try await Backend.token())
        for await event in session.events {
            guard case .signal(let signal) = event else { continue }
            print(signal.type ?? "", signal.data ?? "")
        }
    }

    func join() {
        legacy = OTSession(apiKey: "100", sessionId: "a session ID", delegate: self)
        var error: OTError?
        legacy?.connect(withToken: "a token", error: &error)
        if let error, OTSessionErrorCode(rawValue: Int32(error.code)) == .OTErrorInvalidSession { print(error) }
    }

    nonisolated func sessionDidConnect(_ session: OTSession) {}
    nonisolated func sessionDidDisconnect(_ session: OTSession) {}
    nonisolated func session(_ session: OTSession, didFailWithError error: OTError) {}
    nonisolated func session(_ session: OTSession, streamCreated stream: OTStream) {}
    nonisolated func session(_ session: OTSession, streamDestroyed stream: OTStream) {}
    nonisolated func session(
        _ session: OTSession, receivedSignalType type: String?, from connection: OTConnection?, with string: String?
    ) {}
}

struct OwnChat: View {
    let model: ChatModel

    var body: some View {
        VStack {
            ChatView(model: model, avatar: { person in Text(person.initial) })
            ChatView(
                model: model,
                row: { row in if row.id == .beginning { Text("Welcome") } else { ChatRow(row, model: model) } })
        }
    }
}

@MainActor
final class OwnController: UIViewController {
    private let chat = OTKTextChatComponent()

    func viewDidLoad() {
        chat.setMaxLength(500)
        view.addSubview(chat.view)
    }
}

enum Backend {
    static func token() async throws -> String { "a token" }
}
