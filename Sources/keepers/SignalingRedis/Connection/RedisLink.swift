import EventLoop
import SignalingCore
import SignalingCryptography
import SignalingProtocol
import SignalingRedisCore

/// The connections to one Redis: commands, and subscriptions, which need one of their own in RESP2. They are made
/// together, and lost together. An archive has no subscriptions.
final class RedisLink {
    private enum Phase {
        /// Next: `connecting`, `closed`.
        case created
        /// What is known so far of this Redis. Next: `ready`, `closed`.
        case connecting(Findings)
        /// Next: `closed`.
        case ready
        /// The last state.
        case closed
    }

    private struct Findings {
        var facts: ServerFacts?
        var forgetsNothing: Bool?
        var isSubscribed: Bool
    }

    private let address: RedisAddress
    /// Of an address with Sentinels.
    private let finder: PrimaryFinder?
    private let tls: RedisTLS
    private let loop: EventLoop
    private let subscribes: Bool
    /// Not called after ``close()``.
    private let onEvent: (RedisLinkEvent) -> Void
    private var phase = Phase.created
    /// What messages call this Redis.
    private var name: String
    private var commands: RedisConnection?
    private var subscriptions: RedisConnection?

    init(
        address: RedisAddress, finder: PrimaryFinder?, tls: RedisTLS, loop: EventLoop, subscribes: Bool,
        onEvent: @escaping (RedisLinkEvent) -> Void
    ) {
        self.address = address
        self.finder = finder
        self.tls = tls
        name = address.description
        self.loop = loop
        self.subscribes = subscribes
        self.onEvent = onEvent
    }

    private var nodesChannel: String { SessionKeys.nodesChannel(database: address.database) }
    private var isConnecting: Bool { if case .connecting = phase { true } else { false } }
    private var isReady: Bool { if case .ready = phase { true } else { false } }

    // MARK: - Connecting

    func connect() {
        phase = .connecting(Findings(isSubscribed: !subscribes))
        guard let finder else { return connect(to: address.endpoint) }
        finder.begin { [weak self] step in
            switch step {
            case .found(let endpoint):
                guard let self, isConnecting else { return }
                name = "\(address) at \(endpoint)"
                connect(to: endpoint)
            case .giveUp(let fault): self?.lose(fault)
            }
        }
    }

    private func connect(to endpoint: RedisEndpoint) {
        loop.find(endpoint) { [weak self] result in
            guard let self, isConnecting else { return }
            switch result {
            case .success(let address): connect(to: endpoint, at: address)
            case .failure(let fault): lose(unreachable(fault.text))
            }
        }
    }

    private func connect(to endpoint: RedisEndpoint, at ip: String) {
        do {
            let commands = try connection(to: endpoint, at: ip)
            self.commands = commands
            signIn(on: commands) { [weak self] in self?.inspect(on: commands) }
            guard subscribes else { return }
            let subscriptions = try connection(to: endpoint, at: ip)
            self.subscriptions = subscriptions
            signIn(on: subscriptions) { [weak self] in
                subscriptions.onPush = { [weak self] push in self?.received(push) }
                subscriptions.sendSubscription(RedisCommand("SUBSCRIBE", self?.nodesChannel ?? ""))
            }
        } catch let failure as TLSFailure {
            connectionLost(.insecure(failure))
        } catch {
            lose(unreachable("\(error)"))
        }
    }

    private func connection(to endpoint: RedisEndpoint, at ip: String) throws -> RedisConnection {
        let connection = try RedisConnection(
            address: ip, port: endpoint.port, tls: address.isEncrypted ? tls.client(for: endpoint.host) : nil,
            loop: loop)
        connection.onLost = { [weak self] loss in self?.connectionLost(loss) }
        return connection
    }

    private func signIn(on connection: RedisConnection, _ done: @escaping () -> Void) {
        guard let password = address.password else {
            // Finds out whether a password is needed.
            return ask(connection, RedisCommand("PING"), expecting: "PONG", done)
        }
        let arguments = [address.user, password].compactMap { $0 }
        connection.send(RedisCommand(["AUTH"] + arguments)) { [weak self] reply in
            guard let self else { return }
            guard let failure = reply.failure else { return check(reply, "OK", of: "AUTH", done) }
            // A Redis without a password of its own says so with a common error.
            switch failure {
            case .refused(let text), .other(let text):
                lose(
                    CommandLogFault(.refused, "\(name) refuses the user or the password: \(text). Check --redis."))
            case .full, .readOnly, .loading, .notWritten, .functionMissing, .damaged:
                lose(CommandLogFault(failure, from: name))
            }
        }
    }

    private func inspect(on connection: RedisConnection) {
        if address.database != 0 {
            ask(connection, RedisCommand("SELECT", String(address.database)), expecting: "OK") {}
        }
        ask(connection, RedisCommand("INFO")) { [weak self] reply in
            guard let self else { return }
            let facts = ServerFacts(info: reply.text ?? "")
            if let fault = facts.fault(at: name) { return lose(fault) }
            find { $0.facts = facts }
        }
        // Users without the right to read the configuration get an error, and lose nothing but the trust.
        connection.send(RedisCommand("CONFIG", "GET", "append*")) { [weak self] reply in
            guard let self, isConnecting else { return }
            if reply.failure == nil, reply.array == nil { return lose(nonsense("no answer to CONFIG")) }
            let fields = reply.fields
            let forgetsNothing = fields["appendonly"]?.text == "yes" && fields["appendfsync"]?.text == "always"
            find { $0.forgetsNothing = forgetsNothing }
        }
    }

    /// Sends a command whose failure means that the link is of no use.
    private func ask(_ connection: RedisConnection, _ command: RedisCommand, _ done: @escaping (RedisReply) -> Void) {
        connection.send(command) { [weak self] reply in
            guard let self, isConnecting else { return }
            if let failure = reply.failure { return lose(CommandLogFault(failure, from: name)) }
            done(reply)
        }
    }

    private func ask(
        _ connection: RedisConnection, _ command: RedisCommand, expecting text: String, _ done: @escaping () -> Void
    ) {
        ask(connection, command) { [weak self] reply in self?.check(reply, text, of: "the sign-in", done) }
    }

    private func check(_ reply: RedisReply, _ expected: String, of name: String, _ done: () -> Void) {
        if reply.text == expected { done() } else { lose(nonsense("no answer to \(name)")) }
    }

    private func received(_ push: RedisPush) {
        switch push {
        case .message(let channel, let content):
            if channel == nodesChannel {
                onEvent(.nodesMessage(String(decoding: content, as: UTF8.self)))
            } else if let session = SessionKeys.session(ofChannel: channel, database: address.database) {
                onEvent(.message(session, content))
            } else {
                lose(nonsense("a message that nothing has subscribed to"))
            }
        case .subscription(let channel, let isSubscribed): subscriptionConfirmed(channel, isSubscribed)
        case .refused(let failure): lose(CommandLogFault(failure, from: name))
        }
    }

    private func subscriptionConfirmed(_ channel: String, _ isConfirmed: Bool) {
        if channel == nodesChannel, isConfirmed {
            find { $0.isSubscribed = true }
        } else if let session = SessionKeys.session(ofChannel: channel, database: address.database) {
            onEvent(.subscription(session, isConfirmed: isConfirmed))
        } else {
            lose(nonsense("a subscription that nothing has asked for"))
        }
    }

    private func find(_ change: (inout Findings) -> Void) {
        guard case .connecting(var findings) = phase else { return }
        change(&findings)
        phase = .connecting(findings)
        guard let facts = findings.facts, let forgetsNothing = findings.forgetsNothing, findings.isSubscribed else {
            return
        }
        phase = .ready
        onEvent(.ready(forgetsNothing: forgetsNothing && !facts.hasTakenOver))
    }

    // MARK: - Using

    /// Sends commands one after the other. The handler is not called if the link is lost before the last reply.
    func send(_ list: [RedisCommand], _ handler: @escaping ([RedisReply]) -> Void) {
        guard isReady, let commands else { return }
        var replies: [RedisReply] = []
        for command in list {
            commands.send(command) { [weak self] reply in
                guard let self, isReady else { return }
                replies.append(reply)
                if replies.count == list.count { handler(replies) }
            }
        }
    }

    /// Sends SUBSCRIBE or UNSUBSCRIBE for the channels of sessions.
    func change(_ command: String, _ sessions: [SessionID]) {
        guard isReady else { return }
        let channels = sessions.map { SessionKeys.channel(of: $0, database: address.database) }
        subscriptions?.sendSubscription(RedisCommand([command] + channels))
    }

    /// Writes what was sent, without waiting for the loop's next turn.
    func flush() {
        commands?.flush()
        subscriptions?.flush()
    }

    // MARK: - Ending

    private func connectionLost(_ loss: RedisConnection.Loss) {
        switch loss {
        case .unreachable(let text): lose(unreachable(text))
        case .nonsense(let text): lose(nonsense(text))
        case .insecure(let failure):
            tls.forget()
            lose(CommandLogFault(failure, from: name))
        }
    }

    private func unreachable(_ text: String) -> CommandLogFault {
        // A Redis that wants a certificate may close before its alert can be read.
        let hint =
            name.hasPrefix("rediss:")
            ? " If it wants a certificate of its clients, give --redis-tls-cert and --redis-tls-key." : ""
        return CommandLogFault(
            .unreachable, "Cannot reach \(name): \(text). Start Redis, or correct the address.\(hint)")
    }

    private func nonsense(_ text: String) -> CommandLogFault { .nonsense(text, from: name) }

    private func lose(_ fault: CommandLogFault) {
        if case .closed = phase { return }
        close()
        onEvent(.lost(fault))
    }

    func close() {
        phase = .closed
        finder?.end()
        commands?.close()
        subscriptions?.close()
        commands = nil
        subscriptions = nil
    }
}
