import SignalingCore
import SignalingProtocol

/// The two connections to one Redis: commands, and subscriptions, which need one of their own in RESP2. They are made
/// together, and lost together.
final class RedisLink {
    private enum Phase {
        /// Next: `connecting`, `closed`.
        case created
        /// Next: `ready`, `closed`.
        case connecting
        /// Next: `closed`.
        case ready
        /// The last state.
        case closed
    }

    let address: RedisAddress
    /// Called once, when Redis is known to be suitable and the first subscription is confirmed.
    var onReady: ((ServerFacts, _ forgetsNothing: Bool) -> Void)?
    /// Called once when the link is lost, or cannot be made. Not called after ``close()``, nor from within a call.
    var onLost: ((CommandLogFault) -> Void)?
    var onMessage: ((_ channel: String, _ message: UnsafeRawBufferPointer) -> Void)?
    var onSubscription: ((_ channel: String, _ isSubscribed: Bool) -> Void)?

    private let loop: RedisLoop
    private let firstChannel: String
    private var phase = Phase.created
    private var commands: RedisConnection?
    private var subscriptions: RedisConnection?
    private var facts: ServerFacts?
    private var forgetsNothing: Bool?
    private var isSubscribed = false
    /// Since when the oldest command waits for its reply.
    private(set) var waitingSince: MonotonicInstant?

    init(address: RedisAddress, firstChannel: String, loop: RedisLoop) {
        self.address = address
        self.firstChannel = firstChannel
        self.loop = loop
    }

    var isReady: Bool { phase == .ready }

    // MARK: - Connecting

    func connect() {
        phase = .connecting
        waitingSince = loop.now()
        if NameLookup.isNumeric(address.host) { return connect(to: address.host) }
        NameLookup.resolve(address.host, on: loop) { [weak self] result in
            guard let self, phase == .connecting else { return }
            switch result {
            case .success(let found): connect(to: found)
            case .failure(let fault): lose(unreachable(fault.message))
            }
        }
    }

    private func connect(to host: String) {
        do throws(CommandLogFault) {
            let commands = try RedisConnection(address: host, port: address.port, loop: loop.uv)
            self.commands = commands
            commands.onLost = { [weak self] text in self?.connectionLost(text) }
            let subscriptions = try RedisConnection(address: host, port: address.port, loop: loop.uv)
            self.subscriptions = subscriptions
            subscriptions.onLost = { [weak self] text in self?.connectionLost(text) }
            subscriptions.onMessage = { [weak self] channel, message in self?.onMessage?(channel, message) }
            subscriptions.onSubscription = { [weak self] channel, isSubscribed in
                self?.subscriptionConfirmed(channel, isSubscribed)
            }
            signIn(on: commands) { [weak self] in self?.inspect(on: commands) }
            signIn(on: subscriptions) { [weak self] in
                // Not earlier: hiredis expects no other replies from then on.
                subscriptions.sendSubscription(RedisCommand("SUBSCRIBE", self?.firstChannel ?? ""))
            }
        } catch {
            lose(unreachable(error.message))
        }
    }

    private func signIn(on connection: RedisConnection, _ done: @escaping () -> Void) {
        guard let password = address.password else {
            // Finds out whether a password is needed.
            return ask(connection, RedisCommand("PING")) { _ in done() }
        }
        let arguments = [address.user, password].compactMap { $0 }
        connection.send(RedisCommand(["AUTH"] + arguments)) { [weak self] reply in
            guard let self else { return }
            waitingSince = loop.now()
            if let error = reply.error {
                lose(
                    CommandLogFault(
                        .refused, "\(address) refuses the user or the password: \(error). Check --redis."))
            } else {
                done()
            }
        }
    }

    private func inspect(on connection: RedisConnection) {
        if address.database != 0 {
            ask(connection, RedisCommand("SELECT", String(address.database))) { _ in }
        }
        ask(connection, RedisCommand("INFO")) { [weak self] reply in
            guard let self else { return }
            let facts = ServerFacts(info: reply.text ?? "")
            if let fault = facts.fault(at: address) { return lose(fault) }
            self.facts = facts
            becomeReady()
        }
        // Users without the right to read the configuration get an error, and lose nothing but the trust.
        connection.send(RedisCommand("CONFIG", "GET", "append*")) { [weak self] reply in
            guard let self else { return }
            let fields = reply.fields
            forgetsNothing = fields["appendonly"]?.text == "yes" && fields["appendfsync"]?.text == "always"
            becomeReady()
        }
    }

    /// Sends a command whose failure means that the link is of no use.
    private func ask(_ connection: RedisConnection, _ command: RedisCommand, _ done: @escaping (RedisReply) -> Void) {
        connection.send(command) { [weak self] reply in
            guard let self, phase == .connecting else { return }
            waitingSince = loop.now()
            if let error = reply.error { return lose(CommandLogFault(error, from: address)) }
            done(reply)
        }
    }

    private func subscriptionConfirmed(_ channel: String, _ confirmed: Bool) {
        if channel == firstChannel {
            isSubscribed = true
            becomeReady()
        } else {
            onSubscription?(channel, confirmed)
        }
    }

    private func becomeReady() {
        guard phase == .connecting, let facts, let forgetsNothing, isSubscribed else { return }
        phase = .ready
        waitingSince = nil
        onReady?(facts, forgetsNothing && !facts.hasTakenOver)
    }

    // MARK: - Using

    /// Sends a command. The handler is not called if the link is lost before the reply.
    func send(_ command: RedisCommand, _ handler: @escaping (RedisReply) -> Void) {
        guard phase == .ready, let commands else { return }
        if waitingSince == nil { waitingSince = loop.now() }
        commands.send(command) { [weak self] reply in
            guard let self, phase == .ready else { return }
            waitingSince = commands.unansweredCount == 0 ? nil : loop.now()
            handler(reply)
        }
    }

    func subscribe(_ channels: [String]) { change("SUBSCRIBE", channels) }

    func unsubscribe(_ channels: [String]) { change("UNSUBSCRIBE", channels) }

    private func change(_ command: String, _ channels: [String]) {
        guard phase == .ready, !channels.isEmpty else { return }
        subscriptions?.sendSubscription(RedisCommand([command] + channels))
    }

    /// Writes what was sent, without waiting for the loop's next turn.
    func flush() {
        commands?.flush()
        subscriptions?.flush()
    }

    // MARK: - Ending

    private func connectionLost(_ text: String) { lose(unreachable(text)) }

    private func unreachable(_ text: String) -> CommandLogFault {
        CommandLogFault(.unreachable, "Cannot reach \(address): \(text). Start Redis, or correct the address.")
    }

    /// Gives the link up, for the reason.
    func lose(_ fault: CommandLogFault) {
        guard phase != .closed else { return }
        let onLost = onLost
        close()
        onLost?(fault)
    }

    func close() {
        phase = .closed
        onReady = nil
        onLost = nil
        onMessage = nil
        onSubscription = nil
        commands?.close()
        subscriptions?.close()
        commands = nil
        subscriptions = nil
        waitingSince = nil
    }
}
