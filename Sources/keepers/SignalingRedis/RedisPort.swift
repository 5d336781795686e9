import SignalingCore
import SignalingProtocol
import SignalingRedisCore

/// What a ``RedisCommandLog`` needs of the world: links to its Redis, a clock, and another thread to encode on.
///
/// Everything is called on one thread. A port calls the log's `handle` from the events of that thread, and from within
/// one of these methods only to say that `connect` has failed at once.
package protocol RedisPort: AnyObject {
    var now: MonotonicInstant { get }

    /// Makes a link. `ready` or `lost` follows.
    func connect(_ shard: Int)

    /// Gives the link up. None of its events follows.
    func disconnect(_ shard: Int)

    /// Sends a call. `answered` follows, unless the link is lost. The calls of a link are carried out in their order.
    func send(_ call: ShardCall, to shard: Int)

    /// `subscription` follows for each session.
    func subscribe(_ sessions: [SessionID], of shard: Int)
    func unsubscribe(_ session: SessionID, of shard: Int)

    /// Writes what was sent.
    func flush()

    /// Encodes a snapshot. `done` is called on the thread of the log, never from within this method.
    func encode(_ snapshot: CommandSnapshot, _ done: @escaping ([UInt8]) -> Void)

    /// The log ends: no event follows.
    func shutDown()
}
