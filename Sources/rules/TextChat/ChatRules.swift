import SignalingProtocol

/// What the events of the channel and the acts of the user change in a chat. It reads the state of the channel, and calls
/// neither it nor typing nor the program: a ``TextChatComponent`` carries out what it returns.
struct ChatRules {
    private(set) var channel: (any SignalChannel)?
    var wireForm: ChatWireForm
    var senderID: String?
    var senderAlias: String?

    var composer: Composer
    var timeline: ChatTimeline
    var names = NameBook()
    var reader = HistoryReader()
    var queue = SendQueue()
    var echoes = EchoBook()
    var outbox: OutboxState?
    var reacting = ReactionRequests()
    var positions = ReadPositions()
    var markers = MarkerSender()
    var toldReceipt: KnownReceipt?
    private(set) var restriction: Restriction?
    /// The row that the draft answers, unless that is deleted or gone.
    var replyRow: TimelineRow.ID?
    /// How the message in flight has left.
    var leaving = ChatMessage.Stamp()

    private var phase = Phase.open
    /// The own connection whose peers are in the names.
    private var namedConnection: ConnectionID?
    /// The own connection that typing was told of; nil while it is not up.
    private var typedConnection: ConnectionID?

    /// The phase of the user's own connection, as the channel's events tell.
    private enum Phase: Equatable {
        /// It is up if the channel has one.
        case open
        /// The channel tries to get the same one back. Messages wait meanwhile.
        case returning
        /// It is over. The channel may name it for a while.
        case ended(ConnectionID?)
    }

    init(composer: Composer, timeline: ChatTimeline, wireForm: ChatWireForm) {
        self.composer = composer
        self.timeline = timeline
        self.wireForm = wireForm
    }

    /// The channel has no connection since the one that was over at the last `disconnected`.
    private var hasEnded: Bool {
        guard case .ended(let former) = phase else { return false }
        return channel?.connectionId.map { $0 == former } ?? true
    }

    var isReturning: Bool { phase == .returning }

    var isUp: Bool { !hasEnded && channel?.connectionId != nil }

    // MARK: Events

    /// See ``TextChatComponent/handle(_:now:isolation:)``.
    mutating func handle(_ event: SignalChannelEvent, now: WallTime) -> ChatOutcome {
        switch event {
        case .signal(let signal): return receive(signal, now: now)
        case .lost: return ChatOutcome(changes: timeline.noteGap(after: reader.lost()))
        case .history(let page): return merge(reader.answerToConnect(page, timeline))
        case .erased(let erasure, let seq):
            reader.erased(erasure, seq: seq)
            var changes = timeline.erase(erasure, seq: seq)
            if case .user(let user) = erasure {
                forgetReading(of: user)
                if user == channel?.user { changes += timeline.forgetOwn() }
            }
            return ChatOutcome(changes: changes, activity: .erased(erasure))
        case .changed(let event):
            reader.changed(event, now: now)
            return ChatOutcome(changes: edited(event, now: now), activity: .changed(event))
        case .reactions(let event):
            reader.received(event.seq)
            reader.overlay(event)
            return ChatOutcome(changes: timeline.tell(event))
        case .reacted(let seq, let own):
            reader.received(seq)
            return ChatOutcome(changes: told(own))
        case .read(let marker):
            heard(marker)
            return ChatOutcome()
        case .connected(let connection):
            phase = .open
            stopInquiry()
            return ChatOutcome(typing: connected(connection), activity: .connected(connection))
        case .reconnecting:
            phase = .returning
            reader.reconnecting()
            stopInquiry()
            typedConnection = nil
            return ChatOutcome(typing: [.reconnecting], activity: .reconnecting)
        case .reconnected:
            phase = .open
            // Without a channel it is the connection that the program has reported.
            let typing = (channel?.connectionId ?? reader.connection).map { connected($0) } ?? []
            reader.reconnected()
            enterReading()
            renewClaim()
            return ChatOutcome(typing: typing, activity: .reconnected)
        case .disconnected:
            phase = .ended(reader.connection ?? channel?.connectionId)
            end()
            return ChatOutcome(typing: [.disconnected], changes: failWaiting(), activity: .disconnected)
        case .restrictionsChanged: return ChatOutcome()
        case .connectionCreated(let connection):
            names.note(connection)
            return ChatOutcome(typing: memberCount, activity: .connectionCreated(connection))
        case .connectionDestroyed(let connection):
            names.noteDeparture(connection.connectionId)
            return ChatOutcome(
                typing: [.connectionDestroyed(connection.connectionId)] + memberCount,
                activity: .connectionDestroyed(connection))
        }
    }

    private mutating func receive(_ signal: Signal, now: WallTime) -> ChatOutcome {
        var outcome = ChatOutcome(typing: note())
        let isOwn = isOwn(signal.from)
        if let seq = signal.seq { reader.received(seq) }
        guard var message = ChatWireForm.message(from: signal, now: now) else {
            if let from = signal.from { names.note(sender: from) }
            if !isOwn { outcome.heard = signal }
            outcome.activity = .otherSignal(signal)
            return outcome
        }
        names.note(message)
        if isOwn {
            message.direction = .sent
            let localID = message.localID ?? (isEcho(signal.from) ? echoes.settleBare(message.text) : nil)
            if let localID, timeline.ownMessage(localID) != nil {
                outcome.changes = settle(localID, seq: message.seq, message.stamp, user: message.senderUser)
            } else {
                // The user's other tab sent it, or another part of this program as the same connection.
                outcome.changes = timeline.insert(message, now: now)
            }
            return outcome
        }
        outcome.changes = timeline.insert(message, now: now)
        guard !outcome.changes.isEmpty else { return outcome }
        let from = signal.from?.connectionId
        if let from { outcome.typing.append(.messageReceived(from: from, typingN: message.typingN)) }
        outcome.activity = .messageReceived(from: from)
        // The user sees it, and has read what was before.
        if timeline.isVisible, timeline.unreadCount == 0, let seq = message.seq { outcome.changes += mark(seq) }
        return outcome
    }

    func isOwn(_ sender: Connection?) -> Bool { sender.map { echoes.isOwn($0) } ?? false || isEcho(sender) }

    /// Whether this component sent it, and not another tab of the user: bare text has no other name (CHAT-5).
    private func isEcho(_ sender: Connection?) -> Bool {
        sender.map { echoes.isOwn($0.connectionId) || $0.connectionId.rawValue == senderID } ?? false
    }

    /// The channel knows what holds (MOD-4, MOD-5). Returns nil if nothing has changed.
    mutating func noteRestriction(_ now: WallTime) -> ChatOutcome? {
        let present = hasEnded ? nil : channel?.restriction(at: now)
        guard present != restriction else { return nil }
        restriction = present
        return ChatOutcome(typing: [.restricted(present != nil)], activity: .restrictionChanged)
    }

    // MARK: The own connection

    mutating func setChannel(_ channel: (any SignalChannel)?) -> ChatOutcome {
        self.channel = channel
        // What the former channel reported says nothing of this one.
        phase = .open
        let typedConnection = typedConnection
        end(isOther: true)
        guard channel != nil else { return ChatOutcome(typing: [.disconnected]) }
        self.typedConnection = typedConnection
        return ChatOutcome(typing: note())
    }

    /// Handles a connection that the channel had before the component, or whose event is still to come.
    ///
    /// - Returns: inputs for typing.
    mutating func note() -> [TypingInput] {
        guard isUp, let connection = channel?.connectionId else { return [] }
        if !isReturning || connection != reader.connection { enter(connection) }
        return isReturning || typedConnection == connection ? [] : connected(connection)
    }

    /// - Returns: inputs for typing.
    private mutating func connected(_ connection: ConnectionID) -> [TypingInput] {
        enter(connection)
        typedConnection = connection
        return [.connected(connection, user: echoes.user)] + memberCount
    }

    private var memberCount: [TypingInput] { channel?.memberCount.map { [.memberCount($0)] } ?? [] }

    /// The channel has this connection now.
    mutating func enter(_ connection: ConnectionID) {
        echoes.note(connection, of: channel?.user)
        let isNewOrder = reader.enter(
            connection, hasHistory: channel?.hasHistory ?? false, epoch: channel?.epoch,
            tellsChanges: channel?.changes != nil)
        if isNewOrder {
            timeline.startEra()
            markers.forget()
        }
        guard connection != namedConnection else { return }
        namedConnection = connection
        enterReading()
        names.enter(channel?.connections ?? [])
    }

    /// The connection is over.
    private mutating func end(isOther: Bool = false) {
        reader.disconnected(isOther: isOther)
        if isOther { (positions, markers, timeline.marker) = (ReadPositions(), MarkerSender(), nil) }
        namedConnection = nil
        typedConnection = nil
        stopInquiry()
    }

    // MARK: After a restart

    /// See ``TextChatComponent/restore(messages:draft:ownConnectionIDs:now:)``.
    mutating func restore(
        _ messages: [ChatMessage], draft: String, ownConnectionIDs: [ConnectionID], now: WallTime
    ) -> ChatOutcome {
        for connection in ownConnectionIDs { echoes.note(connection) }
        for message in messages { names.note(message) }
        composer.restore(draft)
        let changes = timeline.restore(messages, now: now)
        for message in timeline.messages where message.isPending {
            if let localID = message.localID { queue.appendPassedOver(localID) }
        }
        return ChatOutcome(typing: [.draftSet(draft)], changes: changes, hasNewDraft: true)
    }
}

/// What a ``TextChatComponent`` carries out after an event or an act, in the order of the fields.
struct ChatOutcome {
    var typing: [TypingInput] = []
    /// A signal of another connection, which may be about typing.
    var heard: Signal?
    /// The changes of the rows.
    var changes: [TimelineChange] = []
    var hasNewDraft = false
    var activity: ChatActivity?
}
