import SignalingCore
import SignalingProtocol

/// What receivers without types get: one presence event a post, as OpenTok posts it.
///
/// A session hands the event to a feed of its project's webhook, which keeps it until the receiver has it.
struct WebhookPost: Hashable, Sendable {
    /// The same for each attempt, and in every process that hands the event on.
    let id: String
    let body: [UInt8]

    /// As an entry of the feed has it.
    var announcement: Announcement { .event(Array(id.utf8) + [UInt8(ascii: "\n")] + body) }

    init(id: String, body: [UInt8]) {
        self.id = id
        self.body = body
    }

    /// - Returns: `nil` for another announcement.
    init?(_ announcement: Announcement?) {
        guard case .event(let bytes)? = announcement, let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else {
            return nil
        }
        self.init(id: String(decoding: bytes[..<end], as: UTF8.self), body: Array(bytes[(end + 1)...]))
    }
}

extension KeptPresenceEvent {
    /// The same in every process that hands the event on, so that receivers can ignore a repetition.
    var webhookID: String { "\(epoch)-\(untold.commandNumber)-\(untold.index)" }
}

extension APIKey {
    /// The feed of presence events for a webhook without types. No key has a blank.
    var webhookFeed: APIKey { APIKey(rawValue: "\(rawValue) webhook") }
}
