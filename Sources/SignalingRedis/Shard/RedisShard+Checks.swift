import DequeModule
import SignalingCore
import SignalingProtocol

/// Checks of quiet sessions: Redis may have lost a notification on its way, and no later one shows the gap (LOG-33).
extension RedisShard {
    /// The most closed sessions that a tick removes from the order of checks: more than a node closes in that time.
    private static let closedCountPerTick = 5_000

    /// Checks some of the sessions that were quiet, so that each is checked in its time.
    func check(_ now: MonotonicInstant) {
        let ticks = max(1, Int(times.check.wholeNanoseconds / max(1, times.tick.wholeNanoseconds)))
        var checksLeft = min(sessions.count / ticks + 1, times.checksPerTick)
        // Sessions that were closed meanwhile are no checks, or they would delay those of the others.
        var closedLeft = Self.closedCountPerTick
        while checksLeft > 0, closedLeft > 0, let id = toCheck.popFirst() {
            guard let session = sessions[id] else {
                checked.remove(id)
                closedLeft -= 1
                continue
            }
            toCheck.append(id)
            checksLeft -= 1
            guard session.isVerified, !session.isAsked, session.phase == .followed,
                now.duration(since: session.heardAt) >= times.check
            else { continue }
            session.heardAt = now
            // A session without a command has nothing to verify.
            if session.feed.position != nil, now.duration(since: session.verifiedAt) >= times.verification {
                verify(session)
            } else {
                compare(session)
            }
        }
    }

    /// Compares what Redis has with what this node has. It costs Redis far less than a call of a function, which only
    /// follows if they differ.
    private func compare(_ session: FollowedSession) {
        session.isAsked = true
        // Redis has nothing of a session without a command.
        let expected: [String?] =
            session.feed.position.map { [session.feed.generation, String($0.number), $0.id.text] } ?? [nil, nil, nil]
        link?.send(RedisCommand("HMGET", "\(session.key):meta", "g", "n", "id")) { [weak self] reply in
            session.isAsked = false
            guard let self, session.phase != .ended else { return }
            guard (0..<3).contains(where: { reply[$0].text != expected[$0] }) else { return }
            guard session.feed.position == nil else { return verify(session) }
            // Another node has begun the session.
            session.isVerified = false
            proceed(session)
        }
    }
}
