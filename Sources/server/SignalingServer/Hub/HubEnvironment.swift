import SignalingCore
import SignalingProtocol
import SignalingTokens
import SignalingTransport

/// The sockets, timers, clocks and randomness that a hub runs on.
///
/// The server uses ``LoopEnvironment``. A simulation brings its own, in virtual time. The hub is generic over this
/// port, so that the compiler specialises it and no call on the path of a message is dynamic.
protocol HubEnvironment {
    associatedtype Socket: HubSocket
    associatedtype Timer: HubTimer
    associatedtype Randomness: RandomNumberGenerator

    var now: MonotonicInstant { get }
    var wallTime: WallTime { get }
    /// The share of the time that the loop has recently been busy.
    var isLoopBusy: Bool { get }

    /// The source of IDs, secrets and jitter.
    func makeRandomness() -> Randomness

    /// A timer that calls `fire` on the loop.
    func makeTimer(_ fire: @escaping () -> Void) -> Timer

    /// What passes the engine's reports on to a hub, which keeps it; nil if the hub receives them itself.
    func makeEngineObserver(for hub: Hub<Self>) -> (any SessionEngineObserver)?
}

extension HubEnvironment {
    func makeEngineObserver(for hub: Hub<Self>) -> (any SessionEngineObserver)? { nil }
}

/// The server's end of one WebSocket. ``ServerSocket`` documents the members.
protocol HubSocket: AnyObject {
    var id: UInt64 { get }
    var attachment: AnyObject? { get set }
    var sessionParameter: String? { get set }
    var isReading: Bool { get set }
    var messageByteLimit: Int { get set }
    /// Bytes that the client's system has acknowledged since the socket was opened.
    var acknowledgedByteCount: UInt64 { get }
    /// Whether the client has closed its side, also before the server has read that far.
    var hasHungUp: Bool { get }

    /// Whether the rest of a frame is buffered.
    var isBacklogged: Bool { get }

    var remoteAddress: String { get }

    func markJoined()
    func write(_ frame: OutboundFrame, as part: MessagePart) -> WriteOutcome
    func close(code: UInt16, reason: String, farewell: OutboundFrame?)
}

/// Fires once, at its deadline or later. A new deadline replaces the old one.
protocol HubTimer: AnyObject {
    func schedule(at deadline: MonotonicInstant)
    func cancel()
    /// When the timer fires; `nil` if it is not set.
    var deadline: MonotonicInstant? { get }
}

/// The timers of a hub. The first two only wake the loop: their work is done at the end of the turn.
struct HubTimers<Timer: HubTimer> {
    let flush: Timer
    let session: Timer
    let input: Timer
    let revocation: Timer
    let alarm: Timer
}

/// The real environment: a ``LoopThread`` and the system's clock and randomness.
struct LoopEnvironment: HubEnvironment {
    let loop: LoopThread

    var now: MonotonicInstant { loop.now }
    var wallTime: WallTime { .current }
    var isLoopBusy: Bool { loop.usage.isBusy }
    func makeRandomness() -> BufferedRandomness { BufferedRandomness() }
    func makeTimer(_ fire: @escaping () -> Void) -> LoopTimer { LoopTimer(loop: loop, handler: fire) }
    func makeEngineObserver(for hub: ServerHub) -> (any SessionEngineObserver)? { EngineDispatch(hub: hub) }
    typealias Socket = ServerSocket
}

extension ServerSocket: HubSocket {}

extension LoopTimer: HubTimer {}

/// The hub of a running server.
typealias ServerHub = Hub<LoopEnvironment>
