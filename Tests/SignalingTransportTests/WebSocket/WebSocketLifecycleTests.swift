import Testing

@testable import SignalingTransport

extension WebSocketLifecycleTests {
    typealias Lifecycle = WebSocketLifecycle<String>

    /// The states that a socket can be in, each reached by the events that lead there.
    enum Stage: CaseIterable {
        case opening, open, backlogged, closingAfterBacklog, closeScheduled, closeSent, peerClosing, terminating, closed
        case libraryClosing

        func lifecycle(_ role: Lifecycle.Role) -> Lifecycle {
            var lifecycle = Lifecycle(role: role)
            if role == .client { _ = lifecycle.handle(.connectReturned(hasConnection: true)) }
            for event in events { _ = lifecycle.handle(event) }
            return lifecycle
        }

        private var events: [Lifecycle.Event] {
            let close = Lifecycle.Event.closeRequested(.init(code: 4001, reason: "own", farewell: "farewell"))
            return switch self {
            case .opening: []
            case .open: [.handshakeCompleted]
            case .backlogged: [.handshakeCompleted, .frameBuffered]
            case .closingAfterBacklog: [.handshakeCompleted, .frameBuffered, close]
            case .closeScheduled: [.handshakeCompleted, close]
            case .closeSent: [.handshakeCompleted, close, .turnEnded]
            case .peerClosing: [.handshakeCompleted, .peerCloseReceived(.init(code: 1001, reason: "peer"))]
            case .terminating: [.handshakeCompleted, .terminateRequested]
            case .closed: [.handshakeCompleted, .connectionEnded]
            case .libraryClosing: [.handshakeCompleted, .libraryCloses]
            }
        }

        init?(_ state: Lifecycle.State) {
            switch state {
            case .starting: return nil
            case .opening: self = .opening
            case .open: self = .open
            case .backlogged: self = .backlogged
            case .closingAfterBacklog: self = .closingAfterBacklog
            case .closeScheduled: self = .closeScheduled
            case .closeSent: self = .closeSent
            case .peerClosing: self = .peerClosing
            case .terminating: self = .terminating
            case .closed: self = .closed
            case .libraryClosing: self = .libraryClosing
            }
        }
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let role: Lifecycle.Role
        let event: @Sendable () -> Lifecycle.Event
        /// One cell for each stage, in their order.
        let cells: [Cell<Stage>]

        init(
            _ name: String, role: Lifecycle.Role = .server,
            _ event: @escaping @Sendable @autoclosure () -> Lifecycle.Event, _ cells: Cell<Stage>...
        ) {
            self.name = name
            self.role = role
            self.event = event
            self.cells = cells
        }

        var testDescription: String { "\(role): \(name)" }

        /// The rows' columns:
        /// opening, open, backlogged,
        /// closingAfterBacklog, closeScheduled, closeSent,
        /// peerClosing, terminating, closed, libraryClosing
        static let table: [Row] = [
            Row(
                "the handshake is complete", .handshakeCompleted,
                .gives("cancelDeadline", "reportOpened", to: .open), .impossible("it is complete"),
                .impossible("it is complete"),
                .impossible("it is complete"), .impossible("it is complete"), .impossible("it is complete"),
                .impossible("it is complete"), .ignored, .impossible("the connection has ended"),
                .impossible("it is complete")),
            Row(
                "the connection fails", role: .client, .connectFailed,
                .gives("cancelDeadline", "reportEnd failed", to: .closed), .impossible("it is connected"),
                .impossible("it is connected"),
                .impossible("it is connected"), .impossible("it is connected"), .impossible("it is connected"),
                .impossible("it is connected"), .impossible("it was connected"), .ignored,
                .impossible("it is connected")),
            Row(
                "input in the same read as the handshake", .inputArrivedWithHandshake,
                .impossible("the handshake is not complete"), .gives("closeAtTurnEnd", to: .terminating),
                .gives("closeAtTurnEnd", to: .terminating),
                .gives("closeAtTurnEnd", to: .terminating), .gives("closeAtTurnEnd", to: .terminating),
                .impossible("a turn has ended"),
                .impossible("the close frame would be input"), .ignored, .impossible("the connection has ended"),
                .impossible("the library reads no more")),
            Row(
                "the library buffers the rest of a frame", .frameBuffered,
                .impossible("nothing was written"), .gives(to: .backlogged), .impossible("nothing was written"),
                .impossible("nothing was written"), .gives(to: .closingAfterBacklog),
                .impossible("nothing was written"),
                .impossible("nothing was written"), .impossible("nothing was written"),
                .impossible("nothing was written"),
                .ignored),
            Row(
                "a write fails", .writeFailed,
                .impossible("nothing was written"), .gives("closeAtTurnEnd", to: .terminating),
                .impossible("nothing was written"),
                .impossible("nothing was written"), .gives("closeAtTurnEnd", to: .terminating),
                .impossible("nothing was written"),
                .impossible("nothing was written"), .impossible("nothing was written"),
                .impossible("nothing was written"),
                .gives("closeAtTurnEnd", to: .terminating)),
            Row(
                "the library closes", .libraryCloses,
                .ignored, .gives("startViolationDeadline", "endTurnAfterFlush", to: .libraryClosing),
                .gives("startViolationDeadline", "endTurnAfterFlush", to: .libraryClosing),
                .gives("startViolationDeadline", to: .closeSent), .gives("startViolationDeadline", to: .closeSent),
                .ignored,
                .ignored, .ignored, .impossible("the connection has ended"),
                .ignored),
            Row(
                "the socket is writable and nothing is buffered", .drained,
                .ignored, .ignored, .gives("reportDrained", to: .open),
                .gives("startCloseDeadline", "write farewell", "closeAtTurnEnd", to: .closeScheduled), .ignored,
                .ignored,
                .ignored, .ignored, .impossible("the connection has ended"),
                .ignored),
            Row(
                "the handler closes", .closeRequested(.init(code: 4502, reason: "later", farewell: "last")),
                .ignored, .gives("applyReading", "startCloseDeadline", "closeAtTurnEnd", to: .closeScheduled),
                .gives("applyReading", "startCloseDeadline", to: .closingAfterBacklog),
                .ignored, .ignored, .ignored,
                .ignored, .ignored, .ignored,
                .ignored),
            Row(
                "the handler closes", role: .client, .closeRequested(.init(code: 4502, reason: "later")),
                .gives("closeAtTurnEnd", to: .terminating),
                .gives("applyReading", "startCloseDeadline", "closeAtTurnEnd", to: .closeScheduled),
                .gives("applyReading", "startCloseDeadline", to: .closingAfterBacklog),
                .ignored, .ignored, .gives("closeAtTurnEnd", to: .terminating),
                .gives("closeAtTurnEnd", to: .terminating), .ignored, .ignored,
                .ignored),
            Row(
                "the handler terminates", .terminateRequested,
                .gives("closeAtTurnEnd", to: .terminating), .gives("closeAtTurnEnd", to: .terminating),
                .gives("closeAtTurnEnd", to: .terminating),
                .gives("closeAtTurnEnd", to: .terminating), .gives("closeAtTurnEnd", to: .terminating),
                .gives("closeAtTurnEnd", to: .terminating),
                .gives("closeAtTurnEnd", to: .terminating), .ignored, .ignored,
                .gives("closeAtTurnEnd", to: .terminating)),
            Row(
                "the deadline passes", .deadlinePassed,
                .gives("closeAtTurnEnd", to: .terminating), .gives("closeAtTurnEnd", to: .terminating),
                .gives("closeAtTurnEnd", to: .terminating),
                .gives("closeAtTurnEnd", to: .terminating), .gives("closeAtTurnEnd", to: .terminating),
                .gives("closeAtTurnEnd", to: .terminating),
                .gives("closeAtTurnEnd", to: .terminating), .ignored, .ignored,
                .gives("closeAtTurnEnd", to: .terminating)),
            Row(
                "the peer sends a close frame", .peerCloseReceived(.init(code: 1000, reason: "bye")),
                .impossible("the handshake is not complete"), .gives("startCloseDeadline", to: .peerClosing),
                .gives("startCloseDeadline", to: .peerClosing),
                .gives("startCloseDeadline", to: .peerClosing), .gives("startCloseDeadline", to: .peerClosing),
                .ignored,
                .impossible("it has sent one"), .gives(), .impossible("the connection has ended"),
                .impossible("the library reads no more")),
            Row(
                "the peer sends a close frame that breaks RFC 6455",
                .peerCloseReceived(.init(code: 1005), isRefused: true),
                .impossible("the handshake is not complete"), .gives("startViolationDeadline", to: .peerClosing),
                .gives("startViolationDeadline", to: .peerClosing),
                .gives("startViolationDeadline", to: .peerClosing), .gives("startViolationDeadline", to: .peerClosing),
                .ignored,
                .impossible("it has sent one"), .gives(), .impossible("the connection has ended"),
                .impossible("the library reads no more")),
            Row(
                "the turn ends", .turnEnded,
                .ignored, .ignored, .ignored,
                .ignored, .gives("sendClose 4001 own", to: .closeSent), .ignored,
                .ignored, .gives("cut"), .ignored,
                .gives(to: .closeSent)),
            Row(
                "the connection ends", .connectionEnded,
                .gives("cancelDeadline", "reportEnd failed", to: .closed),
                .gives("cancelDeadline", "reportEnd closed", to: .closed),
                .gives("cancelDeadline", "reportEnd closed", to: .closed),
                .gives("cancelDeadline", "reportEnd closed", to: .closed),
                .gives("cancelDeadline", "reportEnd closed", to: .closed),
                .gives("cancelDeadline", "reportEnd closed", to: .closed),
                .gives("cancelDeadline", "reportEnd closed by 1001 peer", to: .closed),
                .gives("cancelDeadline", "reportEnd closed", to: .closed), .ignored,
                .gives("cancelDeadline", "reportEnd closed", to: .closed)),
        ]
    }
}

@Suite("A WebSocket's life cycle")
struct WebSocketLifecycleTests {
    static func shown(_ effect: Lifecycle.Effect) -> String {
        switch effect {
        case .reportOpened: "reportOpened"
        case .reportDrained: "reportDrained"
        case .reportEnd(.failed(isTimeout: false)): "reportEnd failed"
        case .reportEnd(.failed(isTimeout: true)): "reportEnd timed out"
        case .reportEnd(.closed(by: nil)): "reportEnd closed"
        case .reportEnd(.closed(by: .some(let close))): "reportEnd closed by \(close.code) \(close.reason)"
        case .applyReading: "applyReading"
        case .startCloseDeadline: "startCloseDeadline"
        case .startViolationDeadline: "startViolationDeadline"
        case .cancelDeadline: "cancelDeadline"
        case .closeAtTurnEnd: "closeAtTurnEnd"
        case .endTurnAfterFlush: "endTurnAfterFlush"
        case .write(let frame): "write \(frame)"
        case .sendClose(let code, let reason): "sendClose \(code) \(reason)"
        case .cut: "cut"
        }
    }

    static func effects(
        _ lifecycle: inout Lifecycle, _ event: Lifecycle.Event
    ) -> [String] {
        lifecycle.handle(event).map(shown)
    }

    @Test("each event in each state gives what the table says", arguments: Row.table)
    func table(_ row: Row) throws {
        try #require(row.cells.count == Stage.allCases.count)
        for (stage, cell) in zip(Stage.allCases, row.cells) {
            var lifecycle = stage.lifecycle(row.role)
            let before = lifecycle.state
            try #require(Stage(before) == stage)
            let effects = Self.effects(&lifecycle, row.event())
            switch cell {
            case .gives(let expected, let next):
                #expect(effects == expected, "\(row.name), \(stage)")
                #expect(Stage(lifecycle.state) == next ?? stage, "\(row.name), \(stage)")
            case .ignored:
                #expect(effects == [] && lifecycle.state == before, "\(row.name), \(stage)")
            case .impossible(let reason):
                // The owner makes these events impossible. If one comes, it may end the connection and nothing else.
                if effects != [] || lifecycle.state != before {
                    #expect(
                        effects == ["closeAtTurnEnd"] && Stage(lifecycle.state) == .terminating,
                        "\(row.name), \(stage): impossible since \(reason)")
                }
            }
        }
    }

    @Test("a client that starts to connect reports nothing before the call has returned")
    func starting() {
        let cases: [([Lifecycle.Event], Bool, [String])] = [
            ([], true, []),
            ([], false, ["closeAtTurnEnd"]),
            ([.connectFailed], true, ["closeAtTurnEnd"]),
            ([.connectFailed, .connectFailed], false, ["closeAtTurnEnd"]),
            ([.connectFailed, .connectionEnded], false, ["closeAtTurnEnd"]),
            ([.connectionEnded], false, ["closeAtTurnEnd"]),
        ]
        for (events, hasConnection, expected) in cases {
            var lifecycle = Lifecycle(role: .client)
            for event in events { #expect(Self.effects(&lifecycle, event) == []) }
            #expect(!lifecycle.mustHangUp)
            #expect(Self.effects(&lifecycle, .connectReturned(hasConnection: hasConnection)) == expected)
            guard !expected.isEmpty else {
                #expect(lifecycle.state == .opening)
                continue
            }
            // Reported once: at the end of the turn, or when the library forgets the connection.
            #expect(Self.effects(&lifecycle, .turnEnded) == ["cut"])
            #expect(Self.effects(&lifecycle, .connectionEnded) == ["cancelDeadline", "reportEnd failed"])
            #expect(Self.effects(&lifecycle, .connectionEnded) == [])
        }
    }

    @Test("the deadline of a handshake is reported as a timeout, also if the library reports a failure after it")
    func connectTimeout() {
        for last in [Lifecycle.Event.connectFailed, .connectionEnded] {
            var lifecycle = Stage.opening.lifecycle(.client)
            #expect(Self.effects(&lifecycle, .deadlinePassed) == ["closeAtTurnEnd"])
            #expect(Self.effects(&lifecycle, last) == ["cancelDeadline", "reportEnd timed out"])
        }
    }

    @Test("a farewell goes out once, before the close frame, also if the library buffers its rest")
    func farewell() {
        for isBuffered in [false, true] {
            var lifecycle = Stage.backlogged.lifecycle(.server)
            let close = Lifecycle.CloseRequest(code: 1000, reason: "goodbye", farewell: "ack")
            #expect(Self.effects(&lifecycle, .closeRequested(close)) == ["applyReading", "startCloseDeadline"])
            #expect(Self.effects(&lifecycle, .turnEnded) == [], "the close frame waits for the backlog")
            #expect(Self.effects(&lifecycle, .drained) == ["startCloseDeadline", "write ack", "closeAtTurnEnd"])
            if isBuffered {
                #expect(Self.effects(&lifecycle, .frameBuffered) == [])
                #expect(Self.effects(&lifecycle, .turnEnded) == [], "the close frame waits for the farewell")
                #expect(Self.effects(&lifecycle, .drained) == ["closeAtTurnEnd"])
            }
            #expect(Self.effects(&lifecycle, .turnEnded) == ["sendClose 1000 goodbye"])
            #expect(Self.effects(&lifecycle, .connectionEnded) == ["cancelDeadline", "reportEnd closed"])
        }
    }

    @Test("a farewell for a socket that is not backlogged is not sent: the handler can write it")
    func farewellWithoutBacklog() {
        var lifecycle = Stage.open.lifecycle(.server)
        let close = Lifecycle.CloseRequest(code: 1000, reason: "", farewell: "ack")
        _ = lifecycle.handle(.closeRequested(close))
        #expect(lifecycle.state == .closeScheduled(.init(code: 1000, reason: "")))
        #expect(Self.effects(&lifecycle, .drained) == [])
    }

    @Test("a peer's close frame counts if it arrives after a failed write in the same turn")
    func closeFrameAfterFailedWrite() {
        var lifecycle = Stage.open.lifecycle(.server)
        _ = lifecycle.handle(.writeFailed)
        #expect(Self.effects(&lifecycle, .peerCloseReceived(.init(code: 1001))) == [])
        #expect(Self.effects(&lifecycle, .peerCloseReceived(.init(code: 1002))) == [])
        #expect(Self.effects(&lifecycle, .turnEnded) == ["cut"])
        #expect(Self.effects(&lifecycle, .connectionEnded) == ["cancelDeadline", "reportEnd closed by 1001 "])
    }

    @Test("the answer to this side's close frame is not reported as the peer's close")
    func answerIsNoPeerClose() {
        for isCut in [false, true] {
            var lifecycle = Stage.closeSent.lifecycle(.server)
            if isCut { _ = lifecycle.handle(.deadlinePassed) }
            _ = lifecycle.handle(.peerCloseReceived(.init(code: 4001)))
            #expect(Self.effects(&lifecycle, .connectionEnded) == ["cancelDeadline", "reportEnd closed"])
        }
    }

    @Test("frames are accepted while open, refused while backlogged, and otherwise closed")
    func writing() {
        for stage in Stage.allCases {
            let refusal = stage.lifecycle(.server).writeRefusal
            switch stage {
            case .open, .libraryClosing: #expect(refusal == nil)
            case .backlogged: #expect(refusal == .refused)
            case .opening, .closingAfterBacklog, .closeScheduled, .closeSent, .peerClosing, .terminating, .closed:
                #expect(refusal == .closed, "\(stage)")
            }
        }
    }

    @Test("input is delivered while open, dropped once a close has begun, and ends a socket that is cut")
    func input() {
        for stage in Stage.allCases {
            let lifecycle = stage.lifecycle(.server)
            switch stage {
            case .open, .backlogged: #expect(lifecycle.inputDisposition == .deliver)
            case .opening, .closingAfterBacklog, .closeScheduled, .libraryClosing, .closeSent, .peerClosing:
                #expect(lifecycle.inputDisposition == .drop, "\(stage)")
            case .terminating, .closed: #expect(lifecycle.inputDisposition == .hangUp)
            }
            #expect(lifecycle.mustHangUp == (lifecycle.inputDisposition == .hangUp))
        }
    }

    @Test("WIRE-13: the handler decides about reading while open; a socket that this side closes is read from")
    func reading() {
        for stage in Stage.allCases {
            let lifecycle = stage.lifecycle(.server)
            for handlerReads in [true, false] {
                let reads = lifecycle.reads(ifHandlerReads: handlerReads)
                switch stage {
                case .open, .backlogged: #expect(reads == handlerReads)
                case .closingAfterBacklog, .closeScheduled: #expect(reads == true)
                case .opening, .libraryClosing, .closeSent, .peerClosing, .terminating, .closed:
                    #expect(reads == nil, "\(stage)")
                }
            }
        }
    }

    @Test("a socket is open until a close frame was sent or received, and backlogged only then")
    func questions() {
        for stage in Stage.allCases {
            let lifecycle = stage.lifecycle(.server)
            #expect(
                lifecycle.isOpen
                    == [.open, .backlogged, .closingAfterBacklog, .closeScheduled, .libraryClosing].contains(stage),
                "\(stage)")
            #expect(lifecycle.isBacklogged == [.backlogged, .closingAfterBacklog].contains(stage), "\(stage)")
        }
    }

    @Test("after any two events in any state, the end is reported once and nothing follows it")
    func everyPair() {
        for row in Row.table {
            for second in Row.table {
                for stage in Stage.allCases {
                    var lifecycle = stage.lifecycle(row.role)
                    var effects = Self.effects(&lifecycle, row.event())
                    effects += Self.effects(&lifecycle, second.event())
                    effects += Self.effects(&lifecycle, .turnEnded)
                    effects += Self.effects(&lifecycle, .connectionEnded)
                    let label = "\(stage), \(row.name), \(second.name)"
                    #expect(
                        effects.count { $0.hasPrefix("reportEnd") } == (stage == .closed ? 0 : 1), "\(label)")
                    #expect(effects.isEmpty || effects.last?.hasPrefix("reportEnd") == true, "\(label)")
                    #expect(lifecycle.state == .closed, "\(label)")
                    for row in Row.table {
                        #expect(Self.effects(&lifecycle, row.event()) == [], "\(label)")
                        #expect(lifecycle.state == .closed, "\(label)")
                    }
                }
            }
        }
    }
}
