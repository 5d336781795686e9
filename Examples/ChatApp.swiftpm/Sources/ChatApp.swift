import Foundation
import SignalingClient
import SwiftUI
import TextChatUI

/// A chat in one room. Before you run it, replace the three texts of `Room` by those of your server.
@main
struct ChatApp: App {
    @State private var model = ChatModel(outbox: Room.outbox, room: Room.sessionId)
    private let session = Session(apiKey: Room.apiKey, sessionId: Room.sessionId, server: Room.server)

    var body: some Scene {
        WindowGroup {
            NavigationStack {
                ChatView(model: model)
                    .navigationTitle("Chat")
                    .task { await model.run(session) { try await Room.token() } }
            }
        }
    }
}

/// The room, and where its tokens come from. In an app of yours, your backend gives all of it to the user.
enum Room {
    static let server = "http://192.168.1.2:8080"
    static let apiKey = "100"
    static let sessionId = "a session ID"

    /// A new token for each connect. Never put the project's secret into an app.
    static func token() async throws -> String {
        guard let url = URL(string: "https://backend.example.com/token") else { throw URLError(.badURL) }
        let (data, _) = try await URLSession.shared.data(from: url)
        return String(decoding: data, as: UTF8.self)
    }

    /// Messages that were written without a connection wait here, also when the system ends the app.
    static var outbox: URL? {
        guard
            let folder = try? FileManager.default.url(
                for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
        else { return nil }
        return folder.appendingPathComponent("outbox")
    }
}
