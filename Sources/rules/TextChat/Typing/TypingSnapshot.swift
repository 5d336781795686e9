import SignalingProtocol

/// The people who type and pause at one moment, in the order in which they began.
public struct TypingSnapshot: Hashable, Sendable {
    /// One person, however many connections they have.
    public struct Typer: Hashable, Sendable {
        /// The name of the user; nil: unknown.
        public let name: String?
        /// The connection on which the person began.
        public let connectionId: ConnectionID
        /// The user as the server says; nil for a guest (USR-1).
        public let user: UserID?

        public init(name: String?, connectionId: ConnectionID, user: UserID? = nil) {
            self.name = name
            self.connectionId = connectionId
            self.user = user
        }
    }

    /// The first people who type, at most ``TypingPolicy/Settings/typerLimit``.
    public var typing: [Typer]
    /// The first people who have paused, at most as many.
    public var paused: [Typer]
    /// How many people type, including those that are not in the list.
    public var typingCount: Int
    public var pausedCount: Int

    public static let nobody = TypingSnapshot()

    public init(typing: [Typer] = [], paused: [Typer] = [], typingCount: Int? = nil, pausedCount: Int? = nil) {
        self.typing = typing
        self.paused = paused
        self.typingCount = typingCount ?? typing.count
        self.pausedCount = pausedCount ?? paused.count
    }

    /// The changes since an earlier snapshot, one per person: first those who have finished, then those who paused,
    /// then those who type. An app that listens to changes, as Layer's do, never gets the same state twice.
    /// Only the people whom the snapshots name count, so one beyond ``TypingPolicy/Settings/typerLimit`` has finished.
    public func changes(since earlier: TypingSnapshot) -> [TypingChange] {
        let typingBefore = Set(earlier.typing)
        let pausedBefore = Set(earlier.paused)
        let present = Set(typing).union(paused)
        return (earlier.typing + earlier.paused).filter { !present.contains($0) }.map { TypingChange($0, .finish) }
            + paused.filter { !pausedBefore.contains($0) }.map { TypingChange($0, .pause) }
            + typing.filter { !typingBefore.contains($0) }.map { TypingChange($0, .begin) }
    }
}

/// A person has begun, paused or finished.
public struct TypingChange: Hashable, Sendable {
    public let typer: TypingSnapshot.Typer
    public let action: TypingAction

    public init(_ typer: TypingSnapshot.Typer, _ action: TypingAction) {
        self.typer = typer
        self.action = action
    }
}
