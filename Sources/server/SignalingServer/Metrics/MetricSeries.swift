import Metrics
import Synchronization

/// A number with its labels: a counter or a gauge.
final class NumberSeries: CounterHandler, FloatingPointCounterHandler, MeterHandler, RecorderHandler {
    private let number = Mutex(0.0)

    var value: Double { number.withLock { $0 } }

    func increment(by amount: Int64) { increment(by: Double(amount)) }
    func increment(by amount: Double) { number.withLock { $0 += amount } }
    func decrement(by amount: Double) { number.withLock { $0 -= amount } }
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { number.withLock { $0 = value } }
    func record(_ value: Int64) { set(Double(value)) }
    func record(_ value: Double) { set(value) }
    func reset() { set(0.0) }
}

/// A histogram with its labels.
final class HistogramSeries: RecorderHandler, TimerHandler {
    private struct State {
        var counts: [Int64]
        var sum = 0.0
    }

    private let bounds: [Double]
    private let state: Mutex<State>

    init(bounds: [Double]) {
        self.bounds = bounds
        state = Mutex(State(counts: [Int64](repeating: 0, count: bounds.count + 1)))
    }

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        let index = bounds.firstIndex { value <= $0 } ?? bounds.count
        state.withLock { state in
            state.counts[index] += 1
            state.sum += value
        }
    }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1_000_000_000) }

    /// Adds the counts of a histogram with the same buckets.
    func add(counts: [Int64], sum: Double) {
        state.withLock { state in
            for (index, count) in counts.enumerated() where index < state.counts.count { state.counts[index] += count }
            state.sum += sum
        }
    }

    /// - Parameter labels: `{route="signal"}`, or nothing.
    func render(_ name: String, _ labels: String, into text: inout String) {
        let (counts, sum) = state.withLock { ($0.counts, $0.sum) }
        let prefix = labels.isEmpty ? "{" : labels.dropLast() + ","
        var total: Int64 = 0
        for (count, bound) in zip(counts, bounds + [.infinity]) {
            total += count
            text += "\(name)_bucket\(prefix)le=\"\(PrometheusRegistry.number(bound))\"} \(total)\n"
        }
        text += "\(name)_sum\(labels) \(PrometheusRegistry.number(sum))\n"
        text += "\(name)_count\(labels) \(total)\n"
    }
}
