/// An address, or all addresses with the same first bits: `192.0.2.7`, `10.0.0.0/8`, `2001:db8::/32`.
public struct AddressBlock: Hashable, Sendable {
    private let address: PeerAddress
    private let bitCount: Int

    /// - Returns: nil if the text is neither an address nor a CIDR block.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first.flatMap({ PeerAddress($0) }) else { return nil }
        self.address = address
        guard parts.count == 2 else {
            bitCount = address.bitCount
            return
        }
        guard parts[1].allSatisfy({ $0.isASCII && $0.isNumber }), let count = Int(parts[1]), count <= address.bitCount
        else { return nil }
        bitCount = count
    }

    func contains(_ other: PeerAddress) -> Bool { address.shares(bitCount, bitsWith: other) }
}

/// How a trusted proxy tells the address of the client behind a connection.
///
/// A server reads one of them only. A proxy passes the others on as the client has written them.
public enum ProxyNaming: String, CaseIterable, Sendable {
    /// The header `X-Forwarded-For` of each request.
    case xForwardedFor = "x-forwarded-for"
    /// The header `Forwarded` of each request (RFC 7239). Not with TLS, where the server cannot read a repeated header.
    case forwarded
    /// A header of the PROXY protocol before the first byte of each connection.
    case proxyProtocol = "proxy-protocol"
}

/// The reverse proxies that tell the client's address.
struct TrustedProxies {
    var blocks: [AddressBlock] = []

    func contains(_ address: PeerAddress) -> Bool { blocks.contains { $0.contains(address) } }

    /// The client behind a connection from a trusted proxy.
    ///
    /// - Parameter header: `X-Forwarded-For`, repeated headers joined with commas.
    /// - Returns: `peer` if it is not trusted, and where the list has no usable address the last trusted proxy.
    func client(behind peer: PeerAddress, forwardedFor header: String?) -> PeerAddress {
        client(behind: peer, named: header.map { listElements($0).map(Self.address(in:)) } ?? [])
    }

    /// The same by the header `Forwarded`.
    ///
    /// - Returns: nil if the header is malformed.
    func client(behind peer: PeerAddress, forwarded header: [UInt8]?) -> PeerAddress? {
        guard contains(peer), let header else { return peer }
        guard let nodes = ForwardedHeader.nodes(header) else { return nil }
        return client(
            behind: peer,
            named: nodes.map { node -> PeerAddress? in
                switch node {
                case .address(let address): address
                case .hidden: nil
                }
            })
    }

    /// Each proxy appends the address that it received the request from. So the last address that is no trusted proxy's
    /// is the client's; everything before it may be the client's own invention.
    private func client(behind peer: PeerAddress, named addresses: [PeerAddress?]) -> PeerAddress {
        guard contains(peer) else { return peer }
        var client = peer
        for address in addresses.reversed() {
            guard let address else { return client }
            client = address
            if !contains(address) { return client }
        }
        return client
    }

    /// `192.0.2.7`, `192.0.2.7:4711`, `2001:db8::7`, `[2001:db8::7]:4711`.
    private static func address(in element: Substring) -> PeerAddress? {
        if let address = PeerAddress(element) { return address }
        guard let colon = element.lastIndex(of: ":"), element[element.index(after: colon)...].allSatisfy(\.isNumber)
        else { return nil }
        return PeerAddress(element[..<colon])
    }
}
