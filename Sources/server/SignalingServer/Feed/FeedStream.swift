import SignalingCore
import SignalingProtocol
import SignalingTransport

/// A reader of a feed that gets events as they come (FEED-3): server-sent events, by the read side of the Durable Streams
/// protocol. Confined to the loop.
///
/// Ends after a minute, and the reader comes back: so nobody keeps a connection for ever, and a proxy that gathers a
/// response passes it on.
final class FeedStream {
    /// The streams of a server. Each takes a connection that nothing displaces.
    static let limit = 100
    /// How long a stream lasts.
    static let life = Duration.seconds(60)
    /// What may wait for a reader that is slow, beside one batch.
    private static let waitingByteCount = 256 << 10

    private let project: APIKey
    private let limit: Int
    private let desk: FeedDesk
    private let note: (FeedBatch) -> Void
    private let until: MonotonicInstant
    private let stream: HTTPStream
    private var offset: FeedOffset
    private var isReading = false
    private var hasEnded = false

    /// - Parameters:
    ///   - batch: the first events, which may be none.
    ///   - onEnd: called once.
    init(
        _ exchange: HTTPExchange, _ project: APIKey, limit: Int, first batch: FeedBatch, desk: FeedDesk,
        now: MonotonicInstant, note: @escaping (FeedBatch) -> Void, onEnd: @escaping () -> Void
    ) {
        self.project = project
        self.limit = limit
        self.desk = desk
        self.note = note
        until = now.advanced(by: Self.life)
        offset = batch.end
        stream = exchange.beginStream(
            HTTPResponse(
                status: HTTPStatus.ok.rawValue,
                headers: [
                    ("Content-Type", "text/event-stream"), ("Cache-Control", "no-store"),
                    ("X-Accel-Buffering", "no"),
                ]))
        stream.onEnd = { [weak self] in
            self?.hasEnded = true
            onEnd()
        }
        stream.onDrain = { [weak self] in self?.proceed() }
        send(batch)
        proceed()
    }

    private func proceed() {
        guard !isReading, !hasEnded, stream.waitingByteCount <= Self.waitingByteCount else { return }
        isReading = true
        desk.wait(project, from: .after(offset), limit: limit, until: until) { [weak self] result in
            self?.got(result)
        }
    }

    private func got(_ result: Result<FeedBatch, FeedFault>) {
        isReading = false
        guard !hasEnded, case .success(let batch) = result else {
            // The reader comes back with its offset, and learns why.
            return stream.end()
        }
        send(batch)
        // Without an event the time is over.
        if batch.events.isEmpty { stream.end() } else { proceed() }
    }

    private func send(_ batch: FeedBatch) {
        note(batch)
        offset = batch.end
        var bytes: [UInt8] = []
        if !batch.events.isEmpty {
            bytes += Array("event: data\ndata: ".utf8) + batch.array + Array("\n\n".utf8)
        }
        let upToDate = batch.isUpToDate ? #","upToDate":true"# : ""
        bytes += Array(
            """
            event: control
            data: {"streamNextOffset":"\(batch.end.text)","streamCursor":"\(batch.end.text)"\(upToDate)}


            """.utf8)
        stream.write(bytes)
    }
}
