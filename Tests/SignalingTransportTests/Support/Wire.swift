/// The transport that a test runs over.
enum Wire: Sendable, CaseIterable {
    case plain
    case tls
}
