import SignalingCore
import SignalingProtocol
import SignalingRedisCore

/// What a log, an archive or a table of revocations needs of the world: links to its Redis, a clock, and another thread to
/// encode on.
///
/// Everything is called on one thread. A port calls its user from the events of that thread, and from within one of these
/// methods only to say that `connect` has failed at once.
package protocol RedisPort: AnyObject {
    var now: MonotonicInstant { get }

    /// Makes a link. `ready` or `lost` follows.
    func connect(_ shard: Int)

    /// Gives the link up. None of its events follows.
    func disconnect(_ shard: Int)

    /// The number of the database in a Redis.
    func database(of shard: Int) -> Int

    /// Sends commands one after the other. All replies follow, unless the link is lost before the last. What is sent first
    /// is carried out first.
    func send(_ commands: [RedisCommand], to shard: Int, answer: @escaping ([RedisReply]) -> Void)

    /// `subscription` follows for each session.
    func subscribe(_ sessions: [SessionID], of shard: Int)
    func unsubscribe(_ session: SessionID, of shard: Int)

    /// Writes what was sent.
    func flush()

    /// Encodes a snapshot. `done` is called on the thread of the user, never from within this method.
    func encode(_ snapshot: CommandSnapshot, _ done: @escaping ([UInt8]) -> Void)

    /// The user ends: no event follows.
    func shutDown()
}

/// What a ``RedisPort`` serves.
package protocol RedisPortUser: AnyObject {
    /// Called every ``LogTimes/tick``, and first of all.
    func tick()
    func receive(_ event: RedisLinkEvent, of shard: Int)
}

/// What a link tells.
package enum RedisLinkEvent {
    /// Redis is known to be suitable, and the channel of the nodes is subscribed.
    case ready(forgetsNothing: Bool)
    /// The link is lost, or cannot be made. The last event.
    case lost(CommandLogFault)
    case subscription(SessionID, isConfirmed: Bool)
    case message(SessionID, [UInt8])
    case nodesMessage(String)
}
