import Foundation
import SignalingProtocol
import SignalingTokens
import SignalingVerification
import Synchronization

/// Shows everything that passes through the relays to a ``WireJudge``, with one clock.
///
/// A relay reports bytes before it forwards them, so that the judge sees a cause before its effects.
package final class WireTap: Sendable {
    /// One connection through a relay, with its two directions.
    package final class Line: Sendable {
        private struct Readers {
            var up = TappedMessages()
            var down = TappedMessages()
        }

        private let tap: WireTap
        private let number: Int
        private let readers = Mutex(Readers())

        fileprivate init(_ tap: WireTap, _ number: Int) {
            self.tap = tap
            self.number = number
        }

        func passed(_ bytes: some Sequence<UInt8>, isUp: Bool) {
            let (messages, close, isReply) = readers.withLock { readers in
                let before = isUp ? readers.up.close : readers.down.close
                let messages = isUp ? readers.up.append(bytes) : readers.down.append(bytes)
                let close = isUp ? readers.up.close : readers.down.close
                // A client answers the server's close frame with the same code (RFC 6455, section 5.5.1).
                return (messages, before == nil ? close : nil, isUp && readers.down.close != nil)
            }
            if messages.isEmpty, close == nil { return }
            tap.judging { judge, now in
                for message in messages {
                    message.withUnsafeBytes { bytes in
                        if isUp {
                            judge.clientSent(bytes, on: number, at: now)
                        } else {
                            judge.serverSent(bytes, on: number, at: now)
                        }
                    }
                }
                guard let close else { return }
                if isUp {
                    if !isReply { judge.clientClosed(number, code: close.code) }
                } else {
                    judge.serverClosed(number, code: close.code)
                }
            }
        }

        /// Bytes no longer pass in both directions: for the server the client is lost from now on.
        ///
        /// - Parameter isSilent: the server cannot notice it, because no socket closes.
        func ended(isSilent: Bool = false) {
            tap.judging { judge, now in judge.closed(number, at: now, isSilent: isSilent) }
        }

        /// Lines pass later than the server sends them from now on.
        func impaired() { tap.judging { judge, _ in judge.impaired(number) } }
    }

    private let judge: Mutex<WireJudge>
    private let lineCount = Atomic(0)
    private let start: ContinuousClock.Instant
    private let terms: WireJudge.Terms
    /// Has a lock of its own: a long judgement is no stall.
    private let meter: Mutex<StallMeter>

    init(terms: WireJudge.Terms, start: ContinuousClock.Instant) {
        var terms = terms
        terms.wallTimeAtZero = WallTime(
            milliseconds: WallTime.current.milliseconds - start.duration(to: .now).wholeMilliseconds)
        judge = Mutex(WireJudge(terms: terms))
        self.start = start
        self.terms = terms
        meter = Mutex(StallMeter(at: MonotonicInstant(nanoseconds: start.duration(to: .now).wholeNanoseconds)))
        Thread.detachNewThread { [weak self] in
            while self?.stalledTime != nil { Thread.sleep(forTimeInterval: 0.1) }
        }
    }

    private var now: MonotonicInstant { MonotonicInstant(nanoseconds: start.duration(to: .now).wholeNanoseconds) }

    /// How long this process did not run, up to now.
    var stalledTime: Duration {
        meter.withLock { meter in
            meter.tick(at: now)
            return meter.total
        }
    }

    func openLine() -> Line {
        let number = lineCount.add(1, ordering: .relaxed).newValue
        judging { judge, now in judge.opened(number, at: now) }
        return Line(self, number)
    }

    func judging<Result: Sendable>(_ body: (inout WireJudge, MonotonicInstant) -> Result) -> Result {
        let stalledTime = stalledTime
        return judge.withLock { judge in
            if stalledTime > .zero { judge.terms = terms.tolerating(stalledTime) }
            return body(&judge, now)
        }
    }
}
