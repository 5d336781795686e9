import TestSupport
import Testing

@testable import SignalingRedisCore

@Suite("Redis log: own commands, and channels")
struct OwnCommandsTests {
    @Test("own commands are sent in parts, and confirmed in their order")
    func ownCommands() {
        var own = OwnCommands()
        for counter in 1...600 { own.append(counter: UInt64(counter), bytes: [1], now: .seconds(0)) }
        let (first, second) = (own.takeForSending(), own.takeForSending())
        #expect(first?.count == 256)
        #expect(second?.first?.counter == 257)
        let early = own.confirm(counter: 2)
        #expect(early?.counter == nil)
        for counter in 1...300 {
            let confirmed = own.confirm(counter: UInt64(counter))
            #expect(confirmed?.bytes == [1])
        }
        let (third, fourth) = (own.takeForSending(), own.takeForSending())
        #expect(third?.first?.counter == 513)
        #expect(fourth?.count == nil)
        own.sendAgain()
        let again = own.takeForSending()
        #expect(again?.first?.counter == 301)
        #expect(own.byteCount == 300)
    }

    @Test("a large command is a call of its own")
    func largeCommands() {
        var own = OwnCommands()
        for counter in 1...3 {
            own.append(
                counter: UInt64(counter), bytes: [UInt8](repeating: 0, count: OwnCommands.callByteCount),
                now: .seconds(0))
        }
        let call = own.takeForSending()
        #expect(call?.count == 1)
    }

    @Test("a channel has one command on its way, and ends where it is wanted")
    func channels() {
        for seed in 0..<100 {
            var random = SeededGenerator(seed: UInt64(seed))
            var channel = ChannelSubscription()
            var onTheWay: [ChannelSubscription.Action] = []
            for _ in 0..<20 {
                if Bool.random(using: &random) {
                    if let action = channel.want(Bool.random(using: &random)) { onTheWay.append(action) }
                } else if let action = onTheWay.popLast() {
                    if let next = channel.confirmed(action == .subscribe) { onTheWay.append(next) }
                }
                #expect(onTheWay.count <= 1, "seed \(seed)")
            }
            while let action = onTheWay.popLast() {
                if let next = channel.confirmed(action == .subscribe) { onTheWay.append(next) }
            }
            #expect((channel.phase == .subscribed) == channel.isWanted, "seed \(seed)")
        }
    }
}
