import SignalingCore
import SignalingProtocol
import SignalingTokens
import SignalingTransport

/// Requests for the feed of a project (FEED-3).
extension RESTRouter {
    func readFeed(_ request: FeedRequest, of project: Project, for exchange: HTTPExchange) {
        let (key, now) = (project.apiKey, hub.environment.now)
        let reader = exchange.queryValue("reader") ?? exchange.remoteAddress
        let charge = charge(to: project)
        let note: (FeedBatch) -> Void = { [feeds] batch in
            charge(batch.events.count)
            feeds.readers.note(
                String(reader.prefix(64)), of: key, at: batch.end, eventCount: batch.events.count, now: now)
            feeds.readEventCount += batch.events.count
        }
        let answer: FeedDesk.Answer = { result in
            switch result {
            case .success(let batch):
                note(batch)
                exchange.respond(.feed(batch, live: request.live))
            case .failure(let fault): exchange.respond(.feed(fault))
            }
        }
        switch request.live {
        case nil: feeds.read(key, from: request.start, limit: request.limit, answer: answer)
        case .longPoll:
            feeds.wait(
                key, from: request.start, limit: request.limit, until: now.advanced(by: FeedRequest.waitingTime),
                answer: answer)
        case .events:
            feeds.read(key, from: request.start, limit: request.limit) { [weak self] result in
                guard let self, case .success(let batch) = result else { return answer(result) }
                guard feedStreams.count < FeedStream.limit else { return answer(.failure(.crowded)) }
                feedStreamCount += 1
                let number = feedStreamCount
                feedStreams[number] = FeedStream(
                    exchange, key, limit: request.limit, first: batch, desk: feeds, now: hub.environment.now,
                    note: note, onEnd: { [weak self] in self?.feedStreams[number] = nil })
            }
        }
    }
}
