import SignalingProtocol

/// Who is typing at one moment, in the order in which they began.
public struct TypingSnapshot: Hashable, Sendable {
    /// One person, however many connections they type on.
    public struct Typer: Hashable, Sendable {
        /// What to call them; nil if nobody has said.
        public let name: String?
        /// The connection on which they began.
        public let connectionID: ConnectionID

        public init(name: String?, connectionID: ConnectionID) {
            self.name = name
            self.connectionID = connectionID
        }
    }

    /// The first of those who type, at most ``TypingPolicy/Settings/typerLimit``.
    public var typing: [Typer]
    /// The first of those who have begun and pause, at most as many.
    public var paused: [Typer]
    /// All who type, the unnamed rest included.
    public var typingCount: Int
    public var pausedCount: Int

    public static let nobody = TypingSnapshot()

    public init(typing: [Typer] = [], paused: [Typer] = [], typingCount: Int? = nil, pausedCount: Int? = nil) {
        self.typing = typing
        self.paused = paused
        self.typingCount = typingCount ?? typing.count
        self.pausedCount = pausedCount ?? paused.count
    }

    /// What has happened since an earlier snapshot, one change per person: who has gone, who has paused, who types. So an app that
    /// listens to changes, as Layer's do, never hears of the same state twice.
    public func changes(since earlier: TypingSnapshot) -> [TypingChange] {
        let typingBefore = Set(earlier.typing)
        let pausedBefore = Set(earlier.paused)
        let present = Set(typing).union(paused)
        return (earlier.typing + earlier.paused).filter { !present.contains($0) }.map { TypingChange($0, .finish) }
            + paused.filter { !pausedBefore.contains($0) }.map { TypingChange($0, .pause) }
            + typing.filter { !typingBefore.contains($0) }.map { TypingChange($0, .begin) }
    }
}

/// That somebody has begun, paused or finished.
public struct TypingChange: Hashable, Sendable {
    public let typer: TypingSnapshot.Typer
    public let action: TypingAction

    public init(_ typer: TypingSnapshot.Typer, _ action: TypingAction) {
        self.typer = typer
        self.action = action
    }
}
