import SignalingCore
import SignalingProtocol

/// Passes the engine's reports on to the hub. Confined to the loop.
///
/// A generic class that observes the engine itself is called through unspecialised code, which looks up the layout of
/// everything generic for each answer. This class names the hub's type, so the compiler specialises the whole path.
final class EngineDispatch: SessionEngineObserver {
    private unowned(unsafe) let hub: ServerHub

    /// - Parameter hub: keeps this object, and outlives it.
    init(hub: ServerHub) { self.hub = hub }

    func engine(answered ticket: CommandTicket, _ outcome: SessionOutcome) { hub.engine(answered: ticket, outcome) }
    func engine(sessionChanged session: SessionID) { hub.engine(sessionChanged: session) }
    func engine(_ session: SessionID, caused effect: SessionEffect) { hub.engine(session, caused: effect) }
    func engine(lost session: SessionID) { hub.engine(lost: session) }
}
