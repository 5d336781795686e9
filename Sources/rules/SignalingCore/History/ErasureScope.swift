import SignalingProtocol

/// The messages that an erasure concerns, among encoded ones (HIS-9).
///
/// An encoded message is not decoded to find its sender: the encoded connections of a user have one end, and no others
/// have it (``UserID/endOfConnection``).
public struct ErasureScope: Sendable {
    public let erasure: Erasure
    /// The erasure's own place in the order: messages before it are concerned.
    public let seq: Seq
    /// How the encoded connections of the user end; `nil` for an erasure that concerns no user.
    public let senderEnd: [UInt8]?

    public init(_ erasure: Erasure, at seq: Seq) {
        self.erasure = erasure
        self.seq = seq
        senderEnd =
            switch erasure {
            case .message, .through: nil
            case .user(let user): user.endOfConnection
            }
    }

    /// The erasure without what came after it: an archive may learn of it late, or once more. `nil` if nothing is left.
    public var limited: Erasure? {
        switch erasure {
        case .message(let erased): erased < seq ? erasure : nil
        // The seq may come from a disk.
        case .through(let last): seq > .zero ? .through(min(last, seq.previous)) : nil
        case .user: erasure
        }
    }

    /// Whether a message of an archive is concerned.
    public func covers(_ message: ArchivedMessage) -> Bool { covers(message.seq, from: message.head) }

    /// Whether a message is concerned.
    ///
    /// - Parameter sender: bytes that end with the encoded connection of its sender, if a client sent it.
    public func covers(_ message: Seq, from sender: @autoclosure () -> [UInt8]) -> Bool {
        guard message < seq else { return false }
        switch erasure {
        case .message(let erased): return message == erased
        case .through(let last): return message <= last
        case .user: return senderEnd.map { sender().hasEnd($0) } ?? false
        }
    }
}

extension [UInt8] {
    fileprivate func hasEnd(_ end: [UInt8]) -> Bool { count >= end.count && self[(count - end.count)...] == end[...] }
}
