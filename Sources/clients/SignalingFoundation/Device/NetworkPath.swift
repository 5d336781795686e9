import SignalingProtocol

/// Finds the moments at which a network is back in the reports of the system, which come at any change of any path.
package struct NetworkPath: Sendable {
    /// The interfaces of the last report; empty without a network; nil before the first report.
    private var interfaces: [String]?

    package init() {}

    /// - Parameter interfaces: the names of those that lead somewhere, the best first; empty without a network.
    /// - Returns: `networkBack` if there is a network again, or if the best interface is another one: sockets of the
    ///   former do not work there. The first report is no change.
    package mutating func update(_ interfaces: [String]) -> DeviceLife? {
        defer { self.interfaces = interfaces }
        guard let before = self.interfaces, let best = interfaces.first else { return nil }
        return before.first == best ? nil : .networkBack
    }
}
