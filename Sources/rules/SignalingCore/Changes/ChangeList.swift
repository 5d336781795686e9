import SignalingProtocol

/// The messages that have changed since a seq (CHG-9): the state names them, and each is read as a page of one.
///
/// So no archive needs an index of changes. A client that was away for a moment has a few to read.
struct ChangeList {
    typealias Answer = (Result<ArchivePage, ArchiveFault>) -> Void

    private let notes: [Changeables.Note]
    /// How far the notes reach, and whether they are all.
    private let end: HistoryPage.Changes
    private let more: Bool
    private let limit: Int

    /// - Parameter known: `nil` for a session that is not here: then nobody knows its changes.
    init(_ known: Changeables?, after seq: Seq, atMost limit: Int) {
        let found = known?.changes(after: seq, atMost: limit)
        notes = found?.notes ?? []
        more = found?.more ?? false
        end = HistoryPage.Changes(
            through: more ? notes.last?.version ?? seq : max(seq, known?.lastVersion ?? seq), isAll: found == nil)
        self.limit = limit
    }

    /// - Parameter readPage: reads a page with what the state knows of it.
    func read(_ readPage: @escaping (HistoryRequest, @escaping Answer) -> Void, answer: @escaping Answer) {
        let page = ArchivePage(range: nil, more: more, messages: [], changes: end)
        add(notes[...], to: page, PageRoom(limit: limit), readPage, answer)
    }

    private func add(
        _ rest: ArraySlice<Changeables.Note>, to page: ArchivePage, _ room: PageRoom,
        _ readPage: @escaping (HistoryRequest, @escaping Answer) -> Void, _ answer: @escaping Answer
    ) {
        // Without a change, the range is of the newest page.
        let request = rest.first.map { HistoryRequest(.after($0.ref.previous), limit: 1) }
        if request == nil, !notes.isEmpty { return answer(.success(page)) }
        readPage(request ?? HistoryRequest(.newest, limit: 1)) { result in
            guard case .success(let found) = result else { return answer(result) }
            var (page, room) = (page, room)
            page.range = found.range
            guard let note = rest.first else { return answer(.success(page)) }
            // A message that was trimmed is not in the list.
            if let message = found.messages.first, message.seq == note.ref {
                guard room.admits(message) else {
                    page.more = true
                    page.changes?.through = (notes.last { $0.version < note.version } ?? note).version
                    return answer(.success(page))
                }
                page.messages.append(message)
            }
            add(rest.dropFirst(), to: page, room, readPage, answer)
        }
    }
}

extension ArchivePage {
    /// The list without what was erased while it was read.
    func erasing(_ erasures: [ErasureScope]) -> ArchivePage {
        var page = self
        page.messages = messages.compactMap { message in
            let concerning = erasures.filter { $0.covers(message) }
            if concerning.contains(where: { if case .through = $0.erasure { true } else { false } }) { return nil }
            return concerning.isEmpty ? message : message.erased
        }
        return page
    }
}
