/// What Redis sends on a connection that has subscribed, without being asked.
package enum RedisPush: Equatable {
    case message(channel: String, [UInt8])
    /// Redis has confirmed a subscription, or its end.
    case subscription(channel: String, isSubscribed: Bool)
    /// Redis refuses a subscription.
    case refused(RedisFailure)

    /// `nil` if the reply is none of these.
    package init?(_ reply: RedisReply) {
        if let failure = reply.failure {
            self = .refused(failure)
            return
        }
        guard let array = reply.array, array.count == 3, let channel = array[1].text else { return nil }
        switch (array[0].text, array[2]) {
        case ("message", .bytes(let content)): self = .message(channel: channel, content)
        case ("subscribe", .integer): self = .subscription(channel: channel, isSubscribed: true)
        case ("unsubscribe", .integer): self = .subscription(channel: channel, isSubscribed: false)
        default: return nil
        }
    }
}
