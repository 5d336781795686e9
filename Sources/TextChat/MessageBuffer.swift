/// The latest messages, up to a limit; the oldest go first. Appending takes constant time on average.
struct MessageBuffer {
    let limit: Int
    /// What has been dropped stays in front of `start` until it is worth moving the rest.
    private var storage: [ChatMessage] = []
    private var start = 0

    init(limit: Int) { self.limit = max(limit, 1) }

    var messages: ArraySlice<ChatMessage> { storage[start...] }

    /// Returns the message that had to go.
    mutating func append(_ message: ChatMessage) -> ChatMessage? {
        storage.append(message)
        guard storage.count - start > limit else { return nil }
        let dropped = storage[start]
        start += 1
        if start >= limit {
            storage.removeFirst(start)
            start = 0
        }
        return dropped
    }

    /// One's own message of that name: the latest first, since it is mostly the one that is asked for.
    func place(of localID: LocalID) -> Int? {
        messages.lastIndex { $0.direction == .sent && $0.localID == localID }
    }

    subscript(_ place: Int) -> ChatMessage {
        get { storage[place] }
        set { storage[place] = newValue }
    }
}
