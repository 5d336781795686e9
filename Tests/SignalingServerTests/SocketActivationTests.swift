import Testing

@testable import SignalingServer

@Suite("The listening socket that a service manager passes")
struct SocketActivationTests {
    private static let processID: Int32 = 4711

    @Test(
        "the variables are for the process that they name, and pass one descriptor",
        arguments: [
            ([:], nil),
            (["LISTEN_FDS": "1"], nil),
            (["LISTEN_PID": "4711"], nil),
            (["LISTEN_PID": "4711", "LISTEN_FDS": "0"], nil),
            (["LISTEN_PID": "4711", "LISTEN_FDS": "1"], 3),
            (["LISTEN_PID": "4711", "LISTEN_FDS": "1", "LISTEN_FDNAMES": "web"], 3),
            // Inherited from the parent: not for this process, whatever they say.
            (["LISTEN_PID": "4710", "LISTEN_FDS": "1"], nil),
            (["LISTEN_PID": "4710", "LISTEN_FDS": "many"], nil),
        ] as [([String: String], Int32?)])
    func passed(_ environment: [String: String], _ descriptor: Int32?) throws {
        #expect(try SocketActivation.descriptor(in: environment, processID: Self.processID) == descriptor)
    }

    @Test(
        "a wrong variable is an error that names it and its value",
        arguments: [
            ("x", "1", "LISTEN_PID is \"x\". Use the ID of the process that gets the socket."),
            ("", "1", "LISTEN_PID is \"\". Use the ID of the process that gets the socket."),
            ("-1", "1", "LISTEN_PID is \"-1\". Use the ID of the process that gets the socket."),
            ("99999999999", "1", "LISTEN_PID is \"99999999999\". Use the ID of the process that gets the socket."),
            ("4711", "one", "LISTEN_FDS is \"one\". Use the number of sockets, 1."),
            ("4711", "", "LISTEN_FDS is \"\". Use the number of sockets, 1."),
            ("4711", "-1", "LISTEN_FDS is \"-1\". Use the number of sockets, 1."),
            ("4711", "2", "LISTEN_FDS is 2, but the server listens on one socket. Pass one, as descriptor 3."),
        ])
    func wrong(_ processID: String, _ count: String, _ message: String) throws {
        let environment = ["LISTEN_PID": processID, "LISTEN_FDS": count]
        let error = #expect(throws: ConfigurationError.self) {
            _ = try SocketActivation.descriptor(in: environment, processID: Self.processID)
        }
        #expect(error?.description == message)
    }
}
