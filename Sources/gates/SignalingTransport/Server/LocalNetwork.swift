/// The addresses that routers do not pass on to the internet: the devices of one Wi-Fi have them.
public enum LocalNetwork {
    private static let blocks = [
        "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "127.0.0.0/8", "fc00::/7", "fe80::/10",
        "::1",
    ].compactMap { AddressBlock($0) }

    static func contains(_ address: PeerAddress) -> Bool { blocks.contains { $0.contains(address) } }

    /// Whether this is the literal of such an address, with or without brackets: `192.168.1.20`, `[fd00::1]`. A name is
    /// none, whatever it resolves to: a page of another site can choose what its own name resolves to.
    public static func contains(literal text: some StringProtocol) -> Bool {
        PeerAddress(text).map(contains) ?? false
    }
}
