/// What the server has used, from its metrics.
package struct ServerUsage: Sendable, Equatable {
    /// User and system.
    var cpu: Duration
    var residentByteCount: Int
    var openDescriptorCount: Int

    /// - Parameter metrics: the text of `GET /metrics`.
    /// - Returns: nil if a figure is missing.
    package init?(metrics: some StringProtocol) {
        func value(_ name: String) -> Double? {
            for line in metrics.split(separator: "\n") where line.hasPrefix(name + " ") {
                return Double(line.dropFirst(name.utf8.count + 1))
            }
            return nil
        }
        guard let cpu = value("process_cpu_seconds_total"),
            let resident = value("process_resident_memory_bytes"),
            let descriptors = value("process_open_fds")
        else { return nil }
        self.cpu = .seconds(cpu)
        residentByteCount = Int(resident)
        openDescriptorCount = Int(descriptors)
    }
}
