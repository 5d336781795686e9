import CLibwebsockets

/// The part of a text message that a frame carries (RFC 6455, section 5.4).
///
/// A long message can be written in parts, so that only one of them has to be buffered. No frame of another message may
/// come between them; the library's answers to pings and the close frame may.
public enum MessagePart: Sendable, Hashable, CaseIterable {
    case whole
    case first
    case middle
    case last

    /// - Parameters:
    ///   - continues: whether an earlier frame has begun the message.
    ///   - isContinued: whether a later frame has the rest of it.
    public init(continues: Bool, isContinued: Bool) {
        self =
            switch (continues, isContinued) {
            case (false, false): .whole
            case (false, true): .first
            case (true, true): .middle
            case (true, false): .last
            }
    }

    /// What `lws_write` calls it.
    @inline(__always) var writeProtocol: lws_write_protocol {
        switch self {
        case .whole: LWS_WRITE_TEXT
        case .first: lws_write_protocol(LWS_WRITE_TEXT.rawValue | LWS_WRITE_NO_FIN.rawValue)
        case .middle: lws_write_protocol(LWS_WRITE_CONTINUATION.rawValue | LWS_WRITE_NO_FIN.rawValue)
        case .last: LWS_WRITE_CONTINUATION
        }
    }
}
