import SignalingClient
import SignalingProtocol
import SignalingVerification

/// Authors that edit and erase their messages, and others that try to (section 20). The judge of the wire compares the
/// answers, the events, the pages and the lists of changes.
struct ChangeStories {
    enum Story: CaseIterable { case edits, editAndErasure, strangers, editsWhileReading }

    let room: Stage.Room
    let stage: Stage

    func run(_ story: Story) async {
        // The moderator may erase everything.
        guard let author = room.members.dropFirst().randomElement(), let last = author.ownMessages.last else { return }
        switch story {
        case .edits: for _ in 0..<3 { await edit(author.ownMessages.randomElement() ?? last, by: author) }
        case .editAndErasure:
            // The second edit comes too late.
            async let first: Void = edit(last, by: author)
            async let erasure: Void = erase(last, by: author)
            async let second: Void = edit(last, by: author)
            _ = await (first, erasure, second)
        case .strangers:
            for member in room.members where member !== author {
                await edit(last, by: member)
                if member !== room.members.first { await erase(last, by: member) }
            }
        case .editsWhileReading:
            await withTaskGroup(of: Void.self) { group in
                for member in room.members {
                    group.addTask { for _ in 0..<5 { await read(HistoryRequest(.newest, limit: 20), by: member) } }
                }
                group.addTask { for _ in 0..<5 { await edit(last, by: author) } }
            }
        }
        await readChanges(since: last)
        stage.mark("change")
    }

    /// The client edits its newest messages.
    func editLatest(_ count: Int, by client: VerifiedClient) async {
        for message in client.ownMessages.suffix(count) { await edit(message, by: client) }
    }

    /// Everybody reads what has changed since a message, and the newest page.
    func readChanges(since message: Seq) async {
        for member in room.members {
            await read(HistoryRequest(.changedAfter(message), limit: 30), by: member)
            await read(HistoryRequest(.newest), by: member)
        }
    }

    private func edit(_ message: Seq, by client: VerifiedClient) async {
        let request = ChangeRequest(message, .edit(data: client.takeData(), isJSON: false))
        await note("edits") { _ = try await client.session.change(request) }
    }

    private func erase(_ message: Seq, by client: VerifiedClient) async {
        await note("deletions") { _ = try await client.session.erase(message: message) }
    }

    private func read(_ request: HistoryRequest, by client: VerifiedClient) async {
        guard let page = try? await client.session.history(request) else { return }
        if page.changes == nil { stage.pagesRead.add(1) } else { stage.count("changeLists") }
        stage.messagesRead.add(page.messages.count)
    }

    private func note(_ name: String, _ change: () async throws -> Void) async {
        do {
            try await change()
            stage.count(name)
        } catch { stage.count("changesRefused") }
    }
}
