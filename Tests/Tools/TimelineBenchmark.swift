import SignalingProtocol
import TextChat

/// `timeline` measures the cost of appending one message and making its changes, behind a short and behind a long history.
enum TimelineBenchmark {
    static func run() {
        for (name, isFull) in [("append", false), ("append, the oldest dropped", true)] {
            let short = nanosecondsPerMessage(after: 100, limit: isFull ? 100 : .max)
            let long = nanosecondsPerMessage(after: 10_000, limit: isFull ? 10_000 : .max)
            print("\(name): \(short) ns behind 100 messages, \(long) ns behind 10,000, ratio \(ratio(long, short))")
        }
    }

    /// The best of several runs, since other load on the machine only adds time.
    static func nanosecondsPerMessage(after count: Int, limit: Int) -> Int {
        (0..<15).map { _ in
            var timeline = ChatTimeline(limit: limit)
            for number in 0..<count { _ = timeline.insert(message(number), now: time(number)) }
            let runLength = 500
            let duration = ContinuousClock().measure {
                for number in count..<count + runLength {
                    precondition(!timeline.insert(message(number), now: time(number)).isEmpty)
                }
            }
            return Int(duration / .nanoseconds(1)) / runLength
        }.min() ?? 0
    }

    static func message(_ number: Int) -> ChatMessage {
        ChatMessage(
            text: "message \(number)", senderID: number % 3 == 0 ? "a" : "b", localID: LocalID(String(number)),
            seq: Seq(Int64(number + 1)))
    }

    static func time(_ number: Int) -> WallTime { WallTime(milliseconds: Int64(number) * 30_000) }

    static func ratio(_ one: Int, _ other: Int) -> String {
        let hundredths = one * 100 / max(other, 1)
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
    }
}
