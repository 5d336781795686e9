import SignalingProtocol

/// A text chat without a screen: the messages, the draft, and what happens when Send is pressed (after OpenTok's
/// `OTKTextChatComponent`).
///
/// With a ``channel`` it sends by itself and follows each message until the server has it. Without one it asks its
/// ``delegate`` to send. What arrives goes in through ``receive(_:now:)``, or through ``addMessage(_:now:)`` by hand.
///
/// It belongs to one actor or thread, whichever that is: it is not `Sendable`, and its async methods run where they are called.
public final class TextChatComponent {
    /// Where messages go; nil: the delegate sends them.
    public var channel: (any SignalChannel)?
    public weak var delegate: (any TextChatDelegate)?

    /// How messages are written. Both forms are always read.
    public var wireForm: ChatWireForm

    /// What is being written.
    public private(set) var draft: Draft

    /// Who "I" am in messages; nil until ``setSenderId(_:alias:)``.
    public private(set) var senderID: String?
    public private(set) var senderAlias: String?

    private var buffer: MessageBuffer
    private var echoes = EchoBook()
    /// Which messages of others are there, to know a second delivery. In step with the buffer.
    private var known: Set<Identity> = []

    /// `maxLength` is OpenTok's default, counted in UTF-16 units unless `unit` says otherwise. `messageLimit`, at least 1, is
    /// how many messages are kept; the oldest go first.
    public init(
        maxLength: Int = 1000, unit: LengthUnit = .utf16, wireForm: ChatWireForm = .json, messageLimit: Int = 10_000
    ) {
        draft = Draft(maxLength: maxLength, unit: unit)
        self.wireForm = wireForm
        buffer = MessageBuffer(limit: messageLimit)
    }

    /// The messages in the order in which they came, the oldest first. Dates never change it.
    public var messages: [ChatMessage] { Array(buffer.messages) }

    /// The messages as they are to be drawn; see ``MessageGrouping``.
    public var rows: [ChatRow] { MessageGrouping.rows(of: buffer.messages) }

    /// Longest text that can be written; see ``Draft/maxLength``.
    public var maxLength: Int {
        get { draft.maxLength }
        set { draft.maxLength = newValue }
    }

    /// How much may still be written; see ``Draft/remaining``.
    public var remaining: Int { draft.remaining }

    /// Says who "I" am: by custom one's connection id, and a name to show. What has been sent already stays as it is.
    public func setSenderId(_ id: String?, alias: String?) {
        senderID = id
        senderAlias = alias
    }

    /// Replaces the draft; false, and nothing changes, when the new text is too long.
    @discardableResult
    public func edit(_ newText: String) -> Bool { draft.edit(newText) }

    // MARK: Receiving

    /// Adds a message as received, whoever it says sent it, dated `now` if it has no date. Always returns true, as
    /// OpenTok's does; neither its length nor its origin is checked.
    @discardableResult
    public func addMessage(_ message: ChatMessage, now: WallTime) -> Bool {
        var message = message
        message.direction = .received
        message.state = .sent
        message.sentAt = message.sentAt ?? now
        append(message)
        return true
    }

    /// Takes a signal. Returns whether the list has changed: not for a signal that is no chat message, nor for a message
    /// that is shown already.
    ///
    /// A signal is one's own when the server's stamp names this component's connection, present or past, or the id given
    /// to ``setSenderId(_:alias:)``. What the data says about its sender changes nothing: a message that bears
    /// another's name or local id is shown as coming from whom the server says.
    @discardableResult
    public func receive(_ signal: Signal, now: WallTime) -> Bool {
        guard var message = ChatWireForm.message(from: signal, now: now) else { return false }
        echoes.note(channel?.connectionID)
        if let from = signal.from?.connectionId, echoes.isOwn(from) || from.rawValue == senderID {
            if let localID = echoes.settle(message), let place = buffer.place(of: localID) {
                let changes = buffer[place].state != .sent
                buffer[place].state = .sent
                return changes
            }
            // Somebody else in this program sent it as the same connection.
            message.direction = .sent
            append(message)
            return true
        }
        if let identity = Identity(message), known.contains(identity) { return false }
        append(message)
        return true
    }

    // MARK: Sending

    /// Sends the draft, through the ``channel`` if there is one, and waits until it is known what became of it. The message
    /// is shown, and the draft is empty, before the first wait: a second call meanwhile finds nothing to send.
    ///
    /// `localID` is the message's name, new for each message. Text is sent as it stands, white space alone included.
    public func send(now: WallTime, localID: LocalID) async -> SendResult {
        let result = show(now: now, localID: localID, channel: channel)
        guard result == .sent, let channel else { return result }
        return await deliver(localID, through: channel)
    }

    /// Gives the draft to the ``delegate`` to send, whether there is a channel or not, and waits for nothing: OpenTok's Send
    /// button. What the delegate has agreed to is shown as sent.
    public func submit(now: WallTime, localID: LocalID) -> SendResult {
        show(now: now, localID: localID, channel: nil)
    }

    /// The part of sending that does not wait: the draft becomes a message of the list, unless somebody refuses it.
    private func show(now: WallTime, localID: LocalID, channel: (any SignalChannel)?) -> SendResult {
        guard !draft.text.isEmpty else { return .nothingToSend }
        let message = ChatMessage(
            text: draft.text, senderID: senderID ?? channel?.connectionID?.rawValue, senderAlias: senderAlias,
            sentAt: now, localID: localID, direction: .sent, state: channel == nil ? .sent : .sending)
        if channel != nil, (wireForm.signal(for: message).data?.utf16.count ?? 0) > Limits.dataLength {
            return .refused(.tooLong)
        }
        if let delegate {
            guard delegate.onMessageReadyToSend(message) else { return .refused(.byDelegate) }
        } else if channel == nil {
            return .refused(.nobodyToSend)
        }
        append(message)
        draft.clear()
        echoes.expect(localID, text: message.text)
        return .sent
    }

    /// Sends a failed message again, as the same message in the same place. Does nothing for any other.
    ///
    /// If the first attempt did arrive after all, receivers know the second by its local id and show it once; of bare text
    /// they cannot.
    public func retry(_ localID: LocalID) async -> SendResult {
        guard let channel, let place = buffer.place(of: localID), case .failed = buffer[place].state else {
            return .nothingToSend
        }
        buffer[place].state = .sending
        echoes.forget(localID)
        echoes.expect(localID, text: buffer[place].text)
        return await deliver(localID, through: channel)
    }

    private func deliver(_ localID: LocalID, through channel: any SignalChannel) async -> SendResult {
        guard let place = buffer.place(of: localID) else { return .nothingToSend }
        echoes.note(channel.connectionID)
        do throws(SignalingError) {
            try await channel.send(wireForm.signal(for: buffer[place]))
        } catch {
            // The echo may have come although the answer did not: then it was sent.
            guard settle(localID, as: .failed(error)) else { return .sent }
            // After a refusal no echo comes; after a lost connection it still may.
            if !error.isRetryable { echoes.forget(localID) }
            return .failed(error)
        }
        echoes.note(channel.connectionID)
        settle(localID, as: .sent)
        return .sent
    }

    /// Returns false when the message is not waiting any more. Its place may have moved during the wait.
    @discardableResult
    private func settle(_ localID: LocalID, as state: ChatMessage.State) -> Bool {
        guard let place = buffer.place(of: localID), buffer[place].state == .sending else { return false }
        buffer[place].state = state
        return true
    }

    private func append(_ message: ChatMessage) {
        if let identity = Identity(message) { known.insert(identity) }
        if let identity = buffer.append(message).flatMap(Identity.init) { known.remove(identity) }
    }

    /// What makes another's message the same as one that is there; nil for one's own, and without a local id.
    private struct Identity: Hashable {
        let senderID: String?
        let localID: LocalID

        init?(_ message: ChatMessage) {
            guard message.direction == .received, let localID = message.localID else { return nil }
            self.senderID = message.senderID
            self.localID = localID
        }
    }
}
