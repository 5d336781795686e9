import SignalingProtocol

extension TextChatComponent {
    /// Whether the history has messages before those that are shown, and the chat has room for them. Nil: not known, as
    /// without a history.
    public var hasEarlier: Bool? {
        guard reader.hasHistory, reader.hasRead else { return nil }
        return !timeline.hasBeginning && timeline.hasRoom
    }

    public var isLoadingEarlier: Bool { reader.isLoadingEarlier }

    /// Why the history could not be read; nil after a success.
    public var historyError: SignalingError? { reader.error }

    /// Loads one more page before the oldest message. Two calls at once are one. ``ChatActivity/historyChanged`` tells
    /// when it has come, or why not (``historyError``); then you may call it again.
    ///
    /// - Returns: whether a page will come.
    @discardableResult
    public func loadEarlier(isolation: isolated (any Actor)? = #isolation) -> Bool {
        if let isolation { sending.actor = isolation }
        guard hasEarlier != false, reader.loadEarlier() else { return false }
        readOn()
        return true
    }

    /// Reads the history of a channel that was connected already when the component got it: call it once after you have
    /// set the ``channel``. After that, ``handle(_:now:isolation:)`` reads what is due.
    public func readHistory(isolation: isolated (any Actor)? = #isolation) {
        if let isolation { sending.actor = isolation }
        noteConnection()
    }

    /// Asks for the next page, if there is one to read and an actor to wait for it.
    func readOn() {
        if let channel, let actor = sending.actor, let errand = reader.next(floor: timeline.floor) {
            read(errand, from: channel, on: actor)
        }
        tellHistory()
    }

    /// The caller is on the component's actor already, but cannot name it.
    private func read(_ errand: HistoryReader.Errand, from channel: any SignalChannel, on actor: some Actor) {
        nonisolated(unsafe) let component = self
        actor.assumeIsolated { actor in component.read(errand, from: channel, isolation: actor) }
    }

    private func read(
        _ errand: HistoryReader.Errand, from channel: any SignalChannel, isolation: isolated any Actor
    ) {
        Task { [weak self] in
            _ = isolation
            do throws(SignalingError) {
                let page = try await channel.history(errand.request)
                self?.finish(errand, with: page)
            } catch {
                self?.fail(errand, error)
            }
        }
    }

    func finish(_ errand: HistoryReader.Errand, with page: HistoryPage) {
        if let place = reader.answer(errand, page, knows: timeline.knows) { merge(place) }
    }

    func fail(_ errand: HistoryReader.Errand, _ error: SignalingError) {
        guard reader.fail(errand, error) else { return }
        if let gap = reader.unreadGap { tell(timeline.noteGap(after: gap)) }
        readOn()
    }

    /// A page ends no typing, reports no message as received, and does not count as unread, unless it brings what an
    /// absence has missed (CHAT-9, CHAT-10).
    @discardableResult
    func merge(_ place: HistoryPlace) -> [TimelineChange] {
        var settled: [LocalID] = []
        let messages = place.messages.compactMap { kept -> ChatMessage? in
            guard var message = ChatWireForm.message(from: kept) else { return nil }
            names.note(message)
            guard isOwn(kept.from) else { return message }
            message.direction = .sent
            if let localID = message.localID, timeline.ownMessage(localID)?.isPending == true {
                settled.append(localID)
            }
            return message
        }
        let changes = tell(timeline.merge(messages, at: place))
        onActivity?(.historyRead(changes))
        for localID in settled { noteSettled(localID) }
        startNext()
        readOn()
        return changes
    }

    func tellHistory() {
        let state = HistoryState(hasEarlier: hasEarlier, isLoading: isLoadingEarlier, error: historyError)
        guard state != toldHistory else { return }
        toldHistory = state
        onActivity?(.historyChanged)
    }
}

/// What ``ChatActivity/historyChanged`` tells.
struct HistoryState: Equatable {
    var hasEarlier: Bool?
    var isLoading = false
    var error: SignalingError?
}
