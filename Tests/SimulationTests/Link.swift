import SignalingProtocol
import SignalingTransport
import SignalingVerification

@testable import SignalingClient
@testable import SignalingServer

/// One WebSocket between a client and a server: two streams, each in order. A stream may be slow, stop, or discard
/// everything.
final class Link {
    private struct Stream {
        /// The stream discards its input, and neither end is notified: half of a dead connection.
        var isDead = false
        var lastArrival = MonotonicInstant(nanoseconds: 0)
        var delay = Duration.zero
    }

    enum Cut: CaseIterable {
        case both, clientOnly, serverOnly, silentUp, silentDown, silent
        /// The client loses its end, and the server still receives what the client has sent.
        case late
    }

    /// An item on its way to the server.
    private enum Upward {
        case message([UInt8])
        case close(UInt16)
        case lost
    }

    /// An item on its way to the client.
    private enum Downward {
        /// A message or a part of one; `isFinal` is true for the last part.
        case message([UInt8], isFinal: Bool)
        case close(UInt16)
    }

    /// The number of unread bytes above which the writing end is backlogged.
    static let downCapacity = 600
    static let upCapacity = 800
    /// The transport's timeouts: from the TCP connection to the end of the handshake, and from a close frame to its
    /// answer.
    static let openTimeout = Duration.seconds(10)
    static let closeTimeout = Duration.seconds(2)

    unowned let world: World
    unowned let client: SimulatedClient
    let server: SimulatedServer
    let serverEnd: ServerEnd
    let clientEnd = ClientEnd()
    private var onEvent: ((ClientLinkEvent) -> Void)?

    private var up = Stream()
    private var down = Stream()
    private var isOpening = true
    private var lateConnect: (delay: Duration, giveUp: Duration)?
    /// The end is closed and receives nothing more.
    private(set) var isClientGone = false
    private(set) var isServerGone = false
    /// The parts of an unfinished message that have been written, and those that have arrived.
    private var writtenParts: [UInt8] = []
    private var arrivedParts: [UInt8] = []
    /// Messages that the client does not read.
    private var isStalled = false
    /// The client has read late or not at all: the server may wait for it, and close with 4002.
    private var isImpaired = false {
        didSet { world.judge.impaired(Int(serverEnd.id)) }
    }
    private var waitingDown: [Downward] = []
    private var waitingDownByteCount = 0
    /// Items that the server has not read.
    private var waitingUp: [Upward] = []
    private var waitingUpByteCount = 0
    /// The state at the end of the last turn.
    private var isServerReading = true

    init(id: UInt64, client: SimulatedClient, server: SimulatedServer, onEvent: @escaping (ClientLinkEvent) -> Void) {
        world = client.world
        self.client = client
        self.server = server
        self.onEvent = onEvent
        serverEnd = ServerEnd(id: id)
        serverEnd.link = self
        clientEnd.link = self
    }

    /// Whether the client's end is among what the server has not read.
    fileprivate var hasUnreadEnd: Bool {
        waitingUp.contains { item in
            switch item {
            case .message: false
            case .close, .lost: true
            }
        }
    }

    /// Some clients get the list of connections within `connected`.
    fileprivate var takesPages: Bool { !serverEnd.id.isMultiple(of: 3) }

    /// Releases the ends, which refer to each other.
    func tearDown() {
        onEvent = nil
        serverEnd.attachment = nil
    }

    func slow(by delay: Duration) {
        up.delay = delay
        if delay > .zero { isImpaired = true }
    }

    /// Delays what the client sends once the socket is open. The client gives up before it arrives.
    func slowConnect(by delay: Duration, givenUpAfter wait: Duration) { lateConnect = (delay, wait) }

    /// Delivers an item after its delay. Items of a stream arrive in the order of sending.
    private func travel(_ stream: inout Stream, _ arrive: @escaping () -> Void) {
        if stream.isDead { return }
        let delay = world.milliseconds(1...60) + stream.delay
        let arrival = max(stream.lastArrival, world.now.advanced(by: delay))
        stream.lastArrival = arrival
        world.schedule(at: arrival, arrive)
    }

    // MARK: - Opening

    func open() {
        travel(&up) { [self] in
            guard server.isRunning else { return clientLoses() }
            // A socket that was cut on its way never reaches the server.
            if isServerGone { return }
            world.judge.opened(Int(serverEnd.id), at: world.now)
            if isImpaired { world.judge.impaired(Int(serverEnd.id)) }
            server.turn { [self] in $0.socketOpened(serverEnd) }
            travel(&down) { [self] in
                guard !isClientGone, !down.isDead else { return }
                isOpening = false
                if let lateConnect {
                    up.delay = lateConnect.delay
                    world.schedule(after: lateConnect.giveUp) { [self] in cut(.late) }
                }
                onEvent?(.opened)
            }
        }
        world.schedule(after: Self.openTimeout) { [self] in
            if isOpening { failOpening() }
        }
    }

    // MARK: - Up

    fileprivate func clientWrites(_ bytes: [UInt8]) {
        if isClientGone { return }
        travel(&up) { [self] in arriveAtServer(.message(bytes)) }
    }

    fileprivate func clientCloses(_ code: UInt16) {
        if isClientGone { return }
        isClientGone = true
        // A socket that is abandoned before it is open ends without a close frame.
        let wasOpening = isOpening
        travel(&up) { [self] in arriveAtServer(wasOpening ? .lost : .close(code)) }
    }

    private func arriveAtServer(_ item: Upward) {
        if isServerGone || up.isDead { return }
        guard isServerReading, waitingUp.isEmpty else {
            // A server that does not read notices a loss only when it has something to write.
            if case .lost = item, serverEnd.isBacklogged { return serverLoses(nil) }
            if case .message(let bytes) = item { waitingUpByteCount += bytes.count }
            waitingUp.append(item)
            if waitingUpByteCount > Self.upCapacity, !clientEnd.isBacklogged {
                clientEnd.isBacklogged = true
                world.count("client backlogged")
            }
            return
        }
        serverReads(item)
    }

    private func serverReads(_ item: Upward) {
        switch item {
        case .message(let bytes):
            if serverEnd.isClosing || isServerGone { return }
            bytes.withUnsafeBytes { world.judge.clientSent($0, on: Int(serverEnd.id), at: world.now) }
            if isClientGone { world.count("arrived late") }
            server.turn { [self] hub in bytes.withUnsafeBytes { hub.socket(serverEnd, received: $0) } }
        case .close(let code):
            let isHeard = !serverEnd.isClosing && !serverEnd.isBacklogged
            if isHeard { world.judge.clientClosed(Int(serverEnd.id), code: Int(code)) }
            serverLoses(isHeard ? code : nil)
        case .lost: serverLoses(nil)
        }
    }

    /// A change of the server's reading takes effect at the end of the turn: items that it has read by then are still
    /// handled.
    func endTurn() {
        let isReading = serverEnd.isReading || serverEnd.isClosing
        guard isReading != isServerReading else { return }
        isServerReading = isReading
        guard isReading else { return }
        world.schedule(at: world.now) { [self] in
            // One read: the hub may pause reading again, and then the rest of this read is still handled.
            var byteCount = 0
            while isServerReading, let item = waitingUp.first, byteCount <= Self.upCapacity / 2 {
                waitingUp.removeFirst()
                if case .message(let bytes) = item {
                    byteCount += bytes.count
                    waitingUpByteCount -= bytes.count
                }
                serverReads(item)
            }
            if !waitingUp.isEmpty {
                // The rest belongs to the next read.
                isServerReading = false
                world.schedule(at: world.now) { [self] in endTurn() }
            } else if clientEnd.isBacklogged {
                clientEnd.isBacklogged = false
                world.schedule(at: world.now) { [self] in if !isClientGone { onEvent?(.drained) } }
            }
        }
    }

    func serverLoses(_ code: UInt16?) {
        if isServerGone { return }
        isServerGone = true
        world.judge.closed(Int(serverEnd.id), at: world.now)
        waitingUp = []
        guard server.isRunning else { return }
        // A server that stands still opens the socket later.
        server.turn { [self] in if serverEnd.attachment != nil { $0.socketClosed(serverEnd, code: code) } }
    }

    // MARK: - Down

    fileprivate func serverWrites(_ bytes: [UInt8], as part: MessagePart) -> WriteOutcome {
        if isServerGone || serverEnd.isClosing { return .closed }
        if serverEnd.isBacklogged { return .refused }
        if writtenParts.isEmpty != (part == .whole || part == .first) {
            world.fail("RFC 6455, 5.4: \(part) is written, and \(writtenParts.count) bytes of its message came before")
        }
        server.noteWrite(bytes, to: serverEnd.id)
        writtenParts += bytes
        let isFinal = part == .whole || part == .last
        if isFinal {
            writtenParts.withUnsafeBytes { world.judge.serverSent($0, on: Int(serverEnd.id), at: world.now) }
            writtenParts = []
        } else {
            world.count("message in parts")
        }
        put(.message(bytes, isFinal: isFinal))
        guard waitingDownByteCount > Self.downCapacity else { return .sent }
        serverEnd.isBacklogged = true
        world.count("backlogged")
        return .backlogged
    }

    private func put(_ item: Downward) {
        guard isStalled || down.isDead else { return send(item) }
        waitingDown.append(item)
        if case .message(let bytes, _) = item { waitingDownByteCount += bytes.count }
    }

    private func send(_ item: Downward) {
        travel(&down) { [self] in
            if down.isDead || isClientGone { return }
            switch item {
            case .message(let bytes, let isFinal):
                serverEnd.acknowledgedByteCount += UInt64(bytes.count)
                arrivedParts += bytes
                guard isFinal else { return }
                let message = arrivedParts
                arrivedParts = []
                client.willReceive(message, on: self)
                message.withUnsafeBytes { onEvent?(.received($0)) }
                client.didReceive()
            case .close(let code):
                client.willClose(self, code: code)
                clientLoses(code)
                travel(&up) { [self] in if !up.isDead { serverLoses(nil) } }
            }
        }
    }

    fileprivate func serverCloses(_ code: UInt16, farewell: [UInt8]?) {
        if isServerGone || serverEnd.isClosing { return }
        serverEnd.isClosing = true
        serverEnd.closeCode = code
        farewell?.withUnsafeBytes { world.judge.serverSent($0, on: Int(serverEnd.id), at: world.now) }
        world.judge.serverClosed(Int(serverEnd.id), code: Int(code))
        // The windows of the connection begin now.
        world.judge.closed(Int(serverEnd.id), at: world.now)
        // RES-8: a late attempt has taken over the socket that the client uses.
        if code == CloseReason.superseded.rawValue, client.link === self, !isClientGone {
            world.count("superseded on the newest socket")
        }
        if serverEnd.isBacklogged {
            serverEnd.farewell = farewell
            if farewell != nil { world.count("farewell") }
        } else {
            put(.close(code))
        }
        world.schedule(after: Self.closeTimeout) { [self] in
            if isServerGone { return }
            serverLoses(nil)
            clientLoses()
            down.isDead = true
        }
    }

    private func serverDrained() {
        guard serverEnd.isBacklogged, !isServerGone else { return }
        serverEnd.isBacklogged = false
        if let code = serverEnd.closeCode {
            if let farewell = serverEnd.farewell {
                if !writtenParts.isEmpty { world.fail("RFC 6455, 5.4: a farewell within a message") }
                put(.message(farewell, isFinal: true))
            }
            put(.close(code))
        } else if server.isRunning {
            server.turn { [self] in $0.socketDrained(serverEnd) }
        }
    }

    private func clientLoses(_ code: UInt16? = nil) {
        if isClientGone || down.isDead { return }
        if isOpening { return failOpening() }
        isClientGone = true
        onEvent?(.closed(code: code))
    }

    private func failOpening() {
        if isClientGone { return }
        isClientGone = true
        onEvent?(.failed(SignalingError(.connectFailed, "the server did not answer")))
    }

    // MARK: - Faults

    /// The client stops reading.
    func stall() {
        isStalled = true
        isImpaired = true
    }

    /// The client reads one of the waiting messages.
    func trickle() {
        guard isStalled, !down.isDead, let item = waitingDown.first, case .message(let bytes, _) = item else { return }
        waitingDown.removeFirst()
        waitingDownByteCount -= bytes.count
        send(item)
    }

    /// The client reads again.
    func resume() {
        guard isStalled else { return }
        isStalled = false
        if down.isDead { return }
        for item in waitingDown { send(item) }
        waitingDown = []
        waitingDownByteCount = 0
        world.schedule(at: world.now) { [self] in serverDrained() }
    }

    func cut(_ cut: Cut) {
        switch cut {
        case .both:
            world.schedule(at: world.now) { [self] in arriveAtServer(.lost) }
            cutClient()
        case .clientOnly:
            cutClient()
            up.isDead = true
        case .serverOnly:
            world.schedule(at: world.now) { [self] in arriveAtServer(.lost) }
            down.isDead = true
        case .late:
            isImpaired = true
            cutClient()
        case .silentUp: up.isDead = true
        case .silentDown:
            isImpaired = true
            down.isDead = true
        case .silent:
            isImpaired = true
            up.isDead = true
            down.isDead = true
        }
    }

    /// The client loses its end, and the items on their way to it.
    private func cutClient() {
        world.schedule(at: world.now) { [self] in
            clientLoses()
            down.isDead = true
        }
    }

    /// The server's process ends.
    func serverDies(after delay: Duration) {
        isServerGone = true
        world.judge.closed(Int(serverEnd.id), at: world.now)
        world.schedule(after: delay) { [self] in clientLoses() }
    }
}

/// The server's end of a ``Link``.
final class ServerEnd: HubSocket {
    fileprivate weak var link: Link?
    let id: UInt64
    var attachment: AnyObject?
    var sessionParameter: String?
    var messageByteLimit = Limits.messageByteCount
    var isReading = true { didSet { if !isReading, oldValue { link?.world.count("reading stopped") } } }
    fileprivate(set) var acknowledgedByteCount: UInt64 = 0
    fileprivate(set) var isBacklogged = false
    fileprivate(set) var isClosing = false
    fileprivate var closeCode: UInt16?
    fileprivate var farewell: [UInt8]?

    init(id: UInt64) { self.id = id }

    var remoteAddress: String { "192.0.2.\(id % 250)" }
    var hasHungUp: Bool { link?.hasUnreadEnd ?? true }
    func markJoined() {}

    func write(_ frame: OutboundFrame, as part: MessagePart) -> WriteOutcome {
        link?.serverWrites(frame.withUnsafeBytes { Array($0) }, as: part) ?? .closed
    }

    func close(code: UInt16, reason: String, farewell: OutboundFrame?) {
        link?.world.count("closed \(code)")
        link?.serverCloses(code, farewell: farewell?.withUnsafeBytes { Array($0) })
    }
}

/// The client's end of a ``Link``.
final class ClientEnd: ClientLink {
    fileprivate weak var link: Link?
    fileprivate(set) var isBacklogged = false

    func write(_ message: ArraySlice<UInt8>) {
        guard let link else { return }
        link.clientWrites(link.takesPages ? Array(message) : Self.withoutPages(message))
    }

    /// The same message of an older client, which takes no pages (CON-11).
    private static func withoutPages(_ message: ArraySlice<UInt8>) -> [UInt8] {
        Array(
            String(decoding: message, as: UTF8.self)
                .replacing(#""connectionPages":true"#, with: #""connectionPages":false"#).utf8)
    }

    func close(code: UInt16) { link?.clientCloses(code) }
}
