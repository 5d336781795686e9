import SignalingCore
import SignalingProtocol
import SignalingTransport
import Testing

@testable import SignalingServer

@Suite("The subscriptions of a room")
struct RoomTests {
    private final class Socket: HubSocket {
        let id: UInt64
        var attachment: AnyObject?
        var sessionParameter: String?
        var isReading = true
        var messageByteLimit = 0
        let acknowledgedByteCount: UInt64 = 0
        let hasHungUp = false
        let isBacklogged = false
        let remoteAddress = ""

        init(id: UInt64) { self.id = id }

        func markJoined() {}
        func write(_ frame: OutboundFrame, as part: MessagePart) -> WriteOutcome { .sent }
        func close(code: UInt16, reason: String, farewell: OutboundFrame?) {}
    }

    private let room = Room<Socket>(
        session: SessionID("s"), flushedThrough: .zero, flushedAbsences: 0, flushScheduler: FlushScheduler())

    /// - Returns: the peer, which the subscription does not retain, and the subscription.
    private func join(
        _ connection: String, on number: UInt64
    ) -> (peer: Peer<Socket>, subscription: Subscription<Socket>) {
        let peer = Peer(
            socket: Socket(id: number),
            state: ConnectionState(
                openedAt: MonotonicInstant(nanoseconds: 0), heartbeat: .seconds(10), backPressure: .standard,
                inputRate: nil))
        let outbox = Outbox(owner: ConnectionID(connection), suppressesPresence: false, cursor: .zero)
        let subscription = Subscription(peer: peer, room: room, socket: SocketID(number), outbox: outbox)
        room.add(subscription)
        return (peer, subscription)
    }

    @Test("each is found by its socket and its connection until it is removed", arguments: [1, 8, 9, 40])
    func found(count: UInt64) {
        let all = (0..<count).map { join("c\($0)", on: $0) }
        for index in all.indices {
            let one = all[index].subscription
            #expect(room.subscription(of: one.socket) === one)
            #expect(room.subscription(of: one.outbox.owner) === one)
            room.remove(one)
            #expect(room.subscription(of: one.socket) == nil && room.subscription(of: one.outbox.owner) == nil)
            #expect(room.subscriptions.count == all.count - 1 - index)
            if let last = all.last?.subscription, last !== one { #expect(room.subscription(of: last.socket) === last) }
        }
        #expect(room.isEmpty)
    }

    @Test("a connection on a new socket is found there, and its earlier socket is still found", arguments: [0, 7, 20])
    func newest(others: UInt64) {
        let older = join("ada", on: 1000)
        let before = (0..<others).map { join("before\($0)", on: $0) }
        let newer = join("ada", on: 1001)
        let after = (0..<others).map { join("after\($0)", on: 100 + $0) }
        #expect(room.subscription(of: ConnectionID("ada")) === newer.subscription)
        #expect(room.subscription(of: older.subscription.socket) === older.subscription)
        room.remove(older.subscription)
        #expect(room.subscription(of: ConnectionID("ada")) === newer.subscription)
        room.remove(newer.subscription)
        #expect(room.subscription(of: ConnectionID("ada")) == nil)
        #expect(before.count + after.count == room.subscriptions.count)
    }
}
