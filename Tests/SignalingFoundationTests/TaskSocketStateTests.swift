import SignalingFoundation
import SignalingProtocol
import TestSupport
import Testing

private func at(_ seconds: Double) -> MonotonicInstant { MonotonicInstant(nanoseconds: Int64(seconds * 1e9)) }

@Suite("A socket of URLSession, by its rules")
struct TaskSocketStateTests {
    private typealias Effect = TaskSocketState.Effect

    private static func fresh(limit: Int = 100) -> TaskSocketState {
        TaskSocketState(subprotocol: "signalbox.v1", limit: limit)
    }

    /// A socket after its handshake, which waits for the answer to `receive` 1.
    private static func open(limit: Int = 100) -> TaskSocketState {
        var socket = fresh(limit: limit)
        _ = socket.handle(.started, now: at(0))
        _ = socket.handle(.opened(subprotocol: "signalbox.v1"), now: at(0))
        return socket
    }

    private static func end(_ report: TaskSocketState.Report) -> [Effect] {
        [.cancelDeadline, .invalidate, .report(report)]
    }

    private static func cut(_ report: TaskSocketState.Report) -> [Effect] { [.cut] + end(report) }

    @Test("it starts, opens, and asks for one message at a time")
    func opens() {
        var socket = Self.fresh()
        #expect(socket.handle(.started, now: at(0)) == [.schedule(at(10)), .resume])
        #expect(
            socket.handle(.opened(subprotocol: "signalbox.v1"), now: at(1))
                == [.cancelDeadline, .receive(1), .report(.opened)])
        #expect(socket.handle(.received(1, .text([1])), now: at(2)) == [.receive(2), .report(.received([1]))])
        #expect(socket.handle(.received(2, .text([])), now: at(2)) == [.receive(3), .report(.received([]))])
    }

    @Test("WIRE-1: a server without the sub-protocol is refused", arguments: [nil, "", "other"] as [String?])
    func subprotocol(_ agreed: String?) {
        var socket = Self.fresh()
        _ = socket.handle(.started, now: at(0))
        guard case .report(.failed(let failure)) = socket.handle(.opened(subprotocol: agreed), now: at(1)).last else {
            return #expect(Bool(false), "no failure")
        }
        #expect(failure.message.contains("sub-protocol"))
        #expect(failure.signalingError.code == .connectFailed)
    }

    @Test("a completion that comes twice, or for an older number, counts once")
    func doubleCompletion() {
        var socket = Self.open()
        _ = socket.handle(.received(1, .text([1])), now: at(1))
        #expect(socket.handle(.received(1, .text([1])), now: at(1)).isEmpty)
        #expect(socket.handle(.receiveFailed(1), now: at(1)).isEmpty)
        #expect(socket.handle(.writeRequested([7]), now: at(1)) == [.send(3, [7])])
        #expect(socket.handle(.sent(3), now: at(1)) == [.report(.drained)])
        #expect(socket.handle(.sent(3), now: at(1)).isEmpty)
        #expect(socket.handle(.sendFailed(3), now: at(1)).isEmpty)
        #expect(socket.handle(.opened(subprotocol: "signalbox.v1"), now: at(1)).isEmpty)
        #expect(socket.handle(.started, now: at(1)).isEmpty)
    }

    @Test("one message is sent at a time: the socket is backlogged until the task has sent it")
    func backlog() {
        var socket = Self.open()
        #expect(!socket.isBacklogged)
        _ = socket.handle(.writeRequested([7]), now: at(1))
        #expect(socket.isBacklogged)
        _ = socket.handle(.sent(2), now: at(1))
        #expect(!socket.isBacklogged)
    }

    @Test("CLOSE-1: the server's close code counts, also when the failure of a receive comes first")
    func closeCode() {
        var socket = Self.open()
        #expect(socket.handle(.closeReceived(code: 4502), now: at(1)) == Self.end(.closed(code: 4502)))
        socket = Self.open()
        #expect(socket.handle(.receiveFailed(1), now: at(1)) == [.schedule(at(2))])
        #expect(socket.handle(.closeReceived(code: 1001), now: at(1)) == Self.end(.closed(code: 1001)))
        #expect(socket.handle(.completed(nil, closeCode: 1001), now: at(1)).isEmpty)
        socket = Self.open()
        _ = socket.handle(.receiveFailed(1), now: at(1))
        #expect(socket.handle(.completed(nil, closeCode: 4002), now: at(1)) == Self.end(.closed(code: 4002)))
        socket = Self.open()
        #expect(
            socket.handle(.completed(TaskFailure("lost"), closeCode: nil), now: at(1)) == Self.end(.closed(code: nil)))
    }

    @Test("a failure without a close code is a loss after a second")
    func lossWithoutCode() {
        var socket = Self.open()
        _ = socket.handle(.writeRequested([7]), now: at(1))
        #expect(socket.handle(.sendFailed(2), now: at(1)) == [.schedule(at(2))])
        #expect(socket.isBacklogged, "nothing more is written to it")
        #expect(socket.handle(.writeRequested([8]), now: at(1)).isEmpty)
        #expect(socket.handle(.receiveFailed(1), now: at(1)).isEmpty)
        #expect(socket.handle(.deadlinePassed, now: at(2)) == Self.cut(.closed(code: nil)))
    }

    @Test("RES-10: 1000 is sent as a close frame, after the message that is being sent")
    func closesNormally() {
        var socket = Self.open()
        #expect(socket.handle(.closeRequested(code: 1000), now: at(1)) == [.schedule(at(6)), .closeNormally])
        #expect(socket.handle(.received(1, .text([1])), now: at(1)).isEmpty)
        #expect(socket.handle(.completed(nil, closeCode: 1000), now: at(1)) == Self.end(.closed(code: nil)))
        socket = Self.open()
        _ = socket.handle(.writeRequested([7]), now: at(1))
        #expect(socket.handle(.closeRequested(code: 1000), now: at(1)) == [.schedule(at(6))])
        #expect(socket.handle(.sent(2), now: at(1)) == [.closeNormally])
        #expect(socket.handle(.deadlinePassed, now: at(6)) == Self.cut(.closed(code: nil)))
        socket = Self.open()
        _ = socket.handle(.writeRequested([7]), now: at(1))
        _ = socket.handle(.closeRequested(code: 1000), now: at(1))
        #expect(socket.handle(.sendFailed(2), now: at(1)) == Self.cut(.closed(code: nil)))
    }

    @Test("RES-10: every other code of this side cuts the connection, which is a loss for the server")
    func cuts() {
        var socket = Self.open()
        #expect(socket.handle(.closeRequested(code: 4001), now: at(1)) == Self.cut(.closed(code: nil)))
        #expect(socket.handle(.receiveFailed(1), now: at(1)).isEmpty)
        #expect(socket.handle(.completed(nil, closeCode: nil), now: at(1)).isEmpty)
        #expect(socket.handle(.closeRequested(code: 1000), now: at(1)).isEmpty)
    }

    @Test("a send that completes after a cancel changes nothing")
    func sendAfterCancel() {
        var socket = Self.open()
        _ = socket.handle(.writeRequested([7]), now: at(1))
        _ = socket.handle(.closeRequested(code: 4001), now: at(1))
        #expect(socket.handle(.sent(2), now: at(1)).isEmpty)
        #expect(socket.handle(.sendFailed(2), now: at(1)).isEmpty)
    }

    @Test("a close while the socket connects abandons it, and it fails once")
    func closesWhileConnecting() {
        var socket = Self.fresh()
        _ = socket.handle(.started, now: at(0))
        let effects = socket.handle(.closeRequested(code: 1000), now: at(1))
        #expect(effects == Self.cut(.failed(TaskFailure("The connection was closed before it was open."))))
        #expect(socket.handle(.opened(subprotocol: "signalbox.v1"), now: at(1)).isEmpty)
        #expect(socket.handle(.completed(TaskFailure("cancelled"), closeCode: nil), now: at(1)).isEmpty)
    }

    @Test("a handshake that fails reports why; one that hangs ends after 10 s")
    func handshakeFails() {
        var socket = Self.fresh()
        _ = socket.handle(.started, now: at(0))
        #expect(
            socket.handle(.completed(TaskFailure("why"), closeCode: nil), now: at(1))
                == Self.end(.failed(TaskFailure("why"))))
        socket = Self.fresh()
        _ = socket.handle(.started, now: at(0))
        let effects = socket.handle(.deadlinePassed, now: at(10))
        #expect(effects.first == .cut)
        guard case .report(.failed(let failure)) = effects.last else {
            return #expect(Bool(false), "no failure")
        }
        #expect(failure.message.contains("did not answer within"))
        socket = Self.fresh()
        _ = socket.handle(.started, now: at(0))
        #expect(
            socket.handle(.closeReceived(code: 1001), now: at(1))
                == Self.end(.failed(TaskFailure("The connection was closed before it was open."))))
    }

    @Test("WIRE-11, WIRE-2: a message of the limit arrives; a longer or a binary one cuts the connection")
    func limits() {
        var socket = Self.open(limit: 3)
        #expect(
            socket.handle(.received(1, .text([1, 2, 3])), now: at(1))
                == [.receive(2), .report(.received([1, 2, 3]))])
        #expect(socket.handle(.received(2, .text([1, 2, 3, 4])), now: at(1)) == Self.cut(.closed(code: nil)))
        socket = Self.open()
        #expect(socket.handle(.received(1, .binary), now: at(1)) == Self.cut(.closed(code: nil)))
    }

    /// A task that calls its callbacks in an order of its own, late and twice, in virtual time.
    @Test("whatever the order of the callbacks, the owner gets one end, in-order messages and nothing after it")
    func scriptedTask() {
        for seed in 1...2000 as ClosedRange<UInt64> {
            var random = SeededGenerator(seed: seed)
            var task = ScriptedTask()
            task.owner(.started)
            for _ in 0..<60 { task.step(&random) }
            task.finish()
            #expect(task.faults.isEmpty, "seed \(seed)")
            if !task.faults.isEmpty { return }
        }
    }
}

/// Executes a socket's effects as a task of the system might, and notes each broken promise.
private struct ScriptedTask {
    private var socket = TaskSocketState(subprotocol: "signalbox.v1", limit: 8)
    private var now = at(0)
    private var deadline: MonotonicInstant?
    private(set) var faults: [String] = []

    private var isResumed = false
    private var isCut = false
    private var isInvalidated = false
    private var hasOpened = false
    private var hasEnded = false
    private var receive: Int?
    private var send: Int?
    /// Callbacks that the task makes again later, as old systems do.
    private var repeats: [TaskSocketState.Event] = []
    private var nextByte: UInt8 = 0
    private var heard: [UInt8] = []
    private var drainedCount = 0
    private var sentCount = 0

    mutating func owner(_ event: TaskSocketState.Event) {
        for effect in socket.handle(event, now: now) { perform(effect) }
    }

    private mutating func callback(_ event: TaskSocketState.Event) {
        repeats.append(event)
        owner(event)
    }

    private mutating func perform(_ effect: TaskSocketState.Effect) {
        if isInvalidated, case .report = effect {} else if isInvalidated { fault("\(effect) after the end") }
        switch effect {
        case .resume: isResumed = true
        case .receive(let number):
            if receive != nil { fault("two receives at once") }
            receive = number
        case .send(let number, _):
            if send != nil { fault("two sends at once") }
            send = number
        case .closeNormally:
            if send != nil { fault("a close before the message is sent") }
        case .cut: isCut = true
        case .invalidate: isInvalidated = true
        case .schedule(let instant): deadline = instant
        case .cancelDeadline: deadline = nil
        case .report(let report): note(report)
        }
    }

    private mutating func note(_ report: TaskSocketState.Report) {
        if hasEnded { fault("\(report) after the last report") }
        switch report {
        case .opened:
            if hasOpened { fault("opened twice") }
            hasOpened = true
        case .received(let bytes): heard += bytes
        case .drained: drainedCount += 1
        case .closed:
            if !hasOpened { fault("closed, but never opened") }
            hasEnded = true
        case .failed:
            if hasOpened { fault("failed after it opened") }
            hasEnded = true
        }
    }

    private mutating func fault(_ text: String) { faults.append(text) }

    mutating func step(_ random: inout SeededGenerator) {
        now = now.advanced(by: .milliseconds(Int.random(in: 0...400, using: &random)))
        if let deadline, now >= deadline {
            self.deadline = nil
            owner(.deadlinePassed)
        }
        switch Int.random(in: 0..<24, using: &random) {
        case 0...3: if isResumed { callback(.opened(subprotocol: "signalbox.v1")) }
        case 4...9:
            guard let number = receive else { return }
            receive = nil
            nextByte &+= 1
            callback(.received(number, .text([nextByte])))
        case 10...12:
            guard let number = send else { return }
            send = nil
            sentCount += 1
            callback(.sent(number))
        case 13...17: if !socket.isBacklogged { owner(.writeRequested([1])) }
        case 18, 19: if let again = repeats.randomElement(using: &random) { owner(again) }
        case 20:
            guard let number = receive else { return }
            receive = nil
            callback(.receiveFailed(number))
        case 21:
            guard let number = send else { return }
            send = nil
            callback(.sendFailed(number))
        case 22: callback(Bool.random(using: &random) ? .closeReceived(code: 1001) : .completed(nil, closeCode: nil))
        default: owner(.closeRequested(code: Bool.random(using: &random) ? 1000 : 4001))
        }
    }

    /// The task's last callback comes in any case.
    mutating func finish() {
        owner(.completed(nil, closeCode: nil))
        if !hasEnded { fault("no end") }
        if !isInvalidated { fault("the session is never released") }
        if deadline != nil { fault("a deadline is left") }
        if heard != Array(heard.sorted()) { fault("messages out of order") }
        if drainedCount > sentCount { fault("drained more often than sent") }
    }
}
