extension [String: String] {
    /// A variable that has a default: an empty one counts as not given.
    package func given(_ name: String) -> String? { self[name].flatMap { $0.isEmpty ? nil : $0 } }
}
