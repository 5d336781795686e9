import SignalingProtocol
import SignalingVerification

/// The wire of one session, written by hand.
struct Wire {
    var judge = WireJudge(
        terms: WireJudge.Terms(
            resumeWindow: .seconds(60), recoveryWindow: .seconds(300), heartbeat: .seconds(10),
            awayDelay: .seconds(10), logEventCount: 100, logByteCount: 1_000_000, tolerance: .seconds(5),
            earliness: .seconds(5)))
    var seconds = 0.0
    /// The users of connections; the others are guests.
    var users: [String: String] = [:]

    var now: MonotonicInstant { MonotonicInstant(nanoseconds: Int64(seconds * 1_000_000_000)) }

    mutating func pass(_ time: Double) { seconds += time }

    mutating func up(_ socket: Int, _ lines: String...) {
        let text = Array(lines.joined(separator: "\n").utf8)
        text.withUnsafeBytes { judge.clientSent($0, on: socket, at: now) }
    }

    mutating func down(_ socket: Int, _ lines: String...) {
        let text = Array(lines.joined(separator: "\n").utf8)
        text.withUnsafeBytes { judge.serverSent($0, on: socket, at: now) }
    }

    /// A new connection, whose own creation has the seq.
    mutating func connect(
        _ socket: Int, as id: String, seq: Int, others: [String] = [], options: String = "{}",
        keepsHistory: Bool = false, data: String? = nil, token: String = "t", role: String? = nil,
        restrictions: String? = nil
    ) {
        judge.opened(socket, at: now)
        up(
            socket,
            #"{"op":"connect","id":1,"apiKey":"k","sessionId":"s","token":"\#(token)","options":\#(options)}"#)
        down(
            socket,
            connected(
                id, seq: seq, "new", others: others, keepsHistory: keepsHistory, data: data, role: role,
                restrictions: restrictions))
    }

    func connected(
        _ id: String, seq: Int, _ outcome: String, replayThrough: Int? = nil, others: [String] = [],
        epoch: String = "e", secret: String = "secret", away: [String]? = nil, keepsHistory: Bool = false,
        data: String? = nil, role: String? = nil, restrictions: String? = nil
    ) -> String {
        let list = ([id] + others).map { details($0, data: $0 == id ? data : nil, user: users[$0]) }
            .joined(separator: ",")
        let replay = replayThrough.map { #","replayThrough":\#($0)"# } ?? ""
        let marks =
            (keepsHistory ? #","history":true"# : "") + (role.map { #","role":"\#($0)""# } ?? "")
            + (restrictions.map { #","restrictions":\#($0)"# } ?? "")
        let absent = away.map { #","away":[\#($0.map { "\"\($0)\"" }.joined(separator: ","))]"# } ?? ""
        return
            #"{"ev":"connected","id":1,"connection":\#(details(id, data: data, user: users[id])),"connections":[\#(list)],"#
            + #""epoch":"\#(epoch)","seq":\#(seq),"outcome":"\#(outcome)"\#(replay)\#(absent)\#(marks),"#
            + #""resume":{"secret":"\#(secret)"}}"#
    }

    mutating func resume(
        _ socket: Int, _ id: String, after: Int, _ outcome: String, as newID: String? = nil, seq: Int,
        replayThrough: Int? = nil, others: [String] = [], epoch: String = "e"
    ) {
        askToResume(socket, id, after: after)
        down(
            socket,
            connected(newID ?? id, seq: seq, outcome, replayThrough: replayThrough, others: others, epoch: epoch))
    }

    mutating func askToResume(_ socket: Int, _ id: String, after: Int, token: String = "t") {
        judge.opened(socket, at: now)
        up(
            socket,
            #"{"op":"connect","id":1,"apiKey":"k","sessionId":"s","token":"\#(token)","resume":{"connectionId":"\#(id)","#
                + #""secret":"secret","epoch":"e","after":\#(after)}}"#)
    }

    /// Two connections, `ada` on socket 1 and `bob` on socket 2.
    static func ofTwo() -> Wire {
        var wire = Wire()
        wire.connect(1, as: "ada", seq: 1)
        wire.connect(2, as: "bob", seq: 2, others: ["ada"])
        wire.down(1, created("bob", 2))
        return wire
    }

    /// Ada's signal, delivered to both and acknowledged.
    mutating func exchange(_ data: String, seq: Int, id: Int) {
        up(1, signal(data, id))
        down(1, received(data, seq), ack(id, seq))
        down(2, received(data, seq))
    }

    /// Ada's signal while Bob has no socket.
    mutating func exchangeAlone(_ data: String, seq: Int, id: Int) {
        up(1, signal(data, id))
        down(1, received(data, seq), ack(id, seq))
    }

    mutating func violations(isSettled: Bool = true) -> [Violation] {
        judge.violations(at: now, isSettled: isSettled)
    }
}

func signal(_ data: String, _ id: Int, to: String? = nil, onlineOnly: Bool = false) -> String {
    let target = to.map { #","to":"\#($0)""# } ?? ""
    return #"{"op":"signal","id":\#(id),"data":"\#(data)"\#(target)\#(onlineOnly ? #","onlineOnly":true"# : "")}"#
}
/// - Parameter sender: the connection that the line describes beside `from` (SIG-9).
func received(
    _ data: String, _ seq: Int?, from: String = "ada", to: String? = nil, type: String? = nil, sender: String? = nil
) -> String {
    let head = seq.map { #","seq":\#($0)"# } ?? ""
    let details = sender.map { #","connection":\#($0)"# } ?? ""
    let address = (type.map { #","type":"\#($0)""# } ?? "") + (to.map { #","to":"\#($0)""# } ?? "")
    return #"{"ev":"signal"\#(head),"from":"\#(from)"\#(details)\#(address),"data":"\#(data)"}"#
}
func details(_ id: String, data: String? = nil, user: String? = nil) -> String {
    let members = (data.map { #","data":"\#($0)""# } ?? "") + (user.map { #","user":"\#($0)""# } ?? "")
    return #"{"connectionId":"\#(id)"\#(members)}"#
}
func ack(_ id: Int, _ seq: Int?) -> String {
    #"{"ev":"ack","id":\#(id)\#(seq.map { #","seq":\#($0)"# } ?? "")}"#
}
func created(_ id: String, _ seq: Int, user: String? = nil) -> String {
    #"{"ev":"connectionCreated","seq":\#(seq),"connection":\#(details(id, user: user))}"#
}
func destroyed(_ id: String, _ seq: Int, _ reason: String = "networkDisconnected") -> String {
    #"{"ev":"connectionDestroyed","seq":\#(seq),"connectionId":"\#(id)","reason":"\#(reason)"}"#
}
