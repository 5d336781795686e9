import CLibwebsockets

/// A virtual host with the memory that it points to. That memory has to live as long as the context.
struct VirtualHost {
    let vhost: OpaquePointer
    let table: ProtocolTable
    let strings: [UnsafeMutablePointer<CChar>?]

    func free() {
        table.free()
        for string in strings { CLibwebsockets.free(string) }
    }
}

typealias LWSCallback =
    @convention(c) (
        OpaquePointer?, lws_callback_reasons, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, Int
    ) -> Int32

/// The protocols of a virtual host: HTTP first, then the WebSocket sub-protocol, then an empty entry that marks the
/// end.
struct ProtocolTable {
    let protocols: UnsafeMutablePointer<lws_protocols>
    private let names: [UnsafeMutablePointer<CChar>?]

    init(httpCallback: LWSCallback, socketCallback: LWSCallback, subprotocol: String, receiveByteCount: Int) {
        protocols = .allocate(capacity: 3)
        protocols.initialize(repeating: lws_protocols(), count: 3)
        // No client can offer this name as a sub-protocol: a token has no parentheses (RFC 9110, section 5.6.2).
        let httpName = strdup("(http)")
        let socketName = strdup(subprotocol)
        names = [httpName, socketName]
        protocols[0].name = UnsafePointer(httpName)
        protocols[0].callback = httpCallback
        protocols[1].name = UnsafePointer(socketName)
        protocols[1].callback = socketCallback
        for index in 0...1 {
            protocols[index].rx_buffer_size = receiveByteCount
            protocols[index].tx_packet_size = LWSContext.transmitByteCount
            // Unused. Without a byte of its own, a connection gets no DROP_PROTOCOL callback, which says that the
            // library closes it.
            protocols[index].per_session_data_size = 1
        }
    }

    func free() {
        protocols.deallocate()
        for name in names { CLibwebsockets.free(name) }
    }
}
