import SignalingFoundation
import SignalingProtocol
import Testing

@Suite("Why a WebSocket could not be opened")
struct TaskFailureTests {
    @Test(
        "each kind of failure says what is wrong, and what to do",
        arguments: [
            (-1001, nil, "did not answer within"), (-1003, nil, "name of the host"),
            (-1004, nil, "refused the connection"),
            (-1009, nil, "no network"), (-1011, 404, "HTTP status 404"), (-1011, 426, "upgrades"),
            (-1011, 200, "HTTP status 200"), (-1011, nil, "refused the WebSocket"),
            (-1022, nil, "NSAllowsLocalNetworking"),
            (-1200, nil, "TLS handshake"), (-1201, nil, "not valid today"), (-1202, nil, "not trusted"),
            (-1206, nil, "certificate of this client"), (-1, 302, "HTTP status 302"),
            (-4711, nil, "the system's words"),
        ] as [(Int, Int?, String)])
    func words(code: Int, status: Int?, part: String) {
        let failure = TaskFailure(code: code, status: status, description: "the system's words")
        #expect(failure.message.contains(part))
        #expect(failure.signalingError.code == .connectFailed)
    }

    @Test("an error of another domain keeps the system's words; status 101 is no refusal")
    func others() {
        #expect(TaskFailure(code: nil, status: nil, description: "no buffer").message == "Cannot connect: no buffer")
        #expect(TaskFailure(code: -1004, status: 101, description: "").message.contains("refused the connection"))
    }
}
