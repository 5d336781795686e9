import EventLoop
import SignalingCore
import SignalingCryptography
import SignalingRedisCore

/// Carries out a ``SentinelSearch``: one connection to each Sentinel, which asks for the primary and then hears of
/// switches for as long as the link lives. Confined to the loop's thread.
final class PrimaryFinder {
    enum Step {
        /// Connect to this Redis.
        case found(RedisEndpoint)
        /// Give the attempt, or the link, up.
        case giveUp(CommandLogFault)
    }

    private static let channel = "+switch-master"

    private let address: RedisAddress
    private let tls: RedisTLS
    private let loop: EventLoop
    private var search: SentinelSearch
    private var connections: [Int: RedisConnection] = [:]
    /// Tells what is asked for this link from what was asked for earlier ones.
    private var round = 0
    private var onStep: ((Step) -> Void)?

    init(_ address: RedisAddress, tls: RedisTLS, loop: EventLoop) {
        self.address = address
        self.tls = tls
        self.loop = loop
        search = SentinelSearch(
            name: address.primaryName, sentinelCount: address.sentinels.count, redis: address.description)
    }

    /// - Parameter onStep: called until ``end()``, also from within this method.
    func begin(_ onStep: @escaping (Step) -> Void) {
        closeAll()
        round += 1
        self.onStep = onStep
        for step in search.begin(now: EventLoop.now) { carryOut(step) }
    }

    func end() {
        onStep = nil
        closeAll()
        search.end()
    }

    func tick() { for step in search.tick(now: EventLoop.now) { carryOut(step) } }

    private func carryOut(_ step: SentinelSearch.Step?) {
        switch step {
        case nil: break
        case .ask(let sentinel): ask(sentinel)
        case .connect(let endpoint): onStep?(.found(endpoint))
        case .giveUp(let fault): onStep?(.giveUp(fault))
        }
    }

    // MARK: - Asking

    private func name(of sentinel: Int) -> String { "The Sentinel \(address.sentinels[sentinel])" }

    private func ask(_ sentinel: Int) {
        let endpoint = address.sentinels[sentinel]
        loop.find(endpoint) { [weak self, round] result in
            guard let self, onStep != nil, round == self.round else { return }
            switch result {
            case .success(let ip): ask(sentinel, endpoint, at: ip)
            case .failure(let failure): lost(sentinel, .unreachable(failure.text))
            }
        }
    }

    private func ask(_ sentinel: Int, _ endpoint: RedisEndpoint, at ip: String) {
        do {
            let connection = try RedisConnection(
                address: ip, port: endpoint.port, tls: address.isEncrypted ? tls.client(for: endpoint.host) : nil,
                loop: loop)
            connections[sentinel] = connection
            connection.onLost = { [weak self] loss in self?.lost(sentinel, loss) }
            if let password = address.access.sentinelPassword {
                let words = [address.access.sentinelUser, password].compactMap { $0 }
                connection.send(RedisCommand(["AUTH"] + words)) { [weak self] reply in
                    if let failure = reply.failure { self?.answered(sentinel, .failure(failure)) }
                }
            }
            connection.onPush = { [weak self] push in self?.received(push, from: sentinel) }
            // They leave together: between the answer and the subscription, no announcement is lost.
            connection.send(RedisCommand("SENTINEL", "get-master-addr-by-name", address.primaryName)) {
                [weak self] reply in
                self?.answered(sentinel, reply)
            }
            connection.sendSubscription(RedisCommand("SUBSCRIBE", Self.channel))
        } catch let failure as TLSFailure {
            lost(sentinel, .insecure(failure))
        } catch {
            lost(sentinel, .unreachable("\(error)"))
        }
    }

    private func answered(_ sentinel: Int, _ reply: RedisReply) {
        // After a refused password, each further command is refused, too.
        guard connections[sentinel] != nil else { return }
        let answer = SentinelSearch.Answer(reply, of: name(of: sentinel))
        if case .failed = answer { close(sentinel) }
        carryOut(search.answered(sentinel, answer, now: EventLoop.now))
    }

    private func received(_ push: RedisPush, from sentinel: Int) {
        switch push {
        case .message(Self.channel, let text):
            carryOut(search.announced(by: sentinel, String(decoding: text, as: UTF8.self)))
        case .message, .subscription: break
        // Its answer counts without announcements, too.
        case .refused: break
        }
    }

    private func lost(_ sentinel: Int, _ loss: RedisConnection.Loss) {
        close(sentinel)
        let name = name(of: sentinel)
        let fault =
            switch loss {
            case .unreachable(let text):
                CommandLogFault(
                    .unreachable, "\(name) cannot be reached: \(text). Start it, or correct the address.")
            case .nonsense(let text): CommandLogFault.nonsense(text, from: name)
            case .insecure(let failure): CommandLogFault(failure, from: name)
            }
        if case .insecure = loss { tls.forget() }
        carryOut(search.lost(sentinel, fault, now: EventLoop.now))
    }

    private func close(_ sentinel: Int) {
        connections[sentinel]?.close()
        connections[sentinel] = nil
    }

    private func closeAll() {
        for connection in connections.values { connection.close() }
        connections = [:]
    }
}

extension EventLoop {
    struct NameFailure: Error {
        let text: String
    }

    /// Finds the IP address of an endpoint. `done` is called on the loop, for an IP address at once.
    func find(_ endpoint: RedisEndpoint, _ done: @escaping (Result<String, NameFailure>) -> Void) {
        if Self.isAddress(endpoint.host) { return done(.success(endpoint.host)) }
        findAddress(of: endpoint.host) { result in
            done(result.mapError { NameFailure(text: "the host's name cannot be resolved: \($0)") })
        }
    }
}
