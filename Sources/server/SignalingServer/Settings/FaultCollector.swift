/// Collects the faults of a configuration: an operator corrects all of them before the next start, not one per start.
struct FaultCollector {
    private(set) var faults: [ConfigurationError.Fault] = []
    /// The settings without a usable value. A check that needs one of them would only report a consequence.
    private(set) var unusable: Set<String>

    init(unusable: Set<String> = []) { self.unusable = unusable }

    /// The result; nil if it throws, or if one of these settings has no usable value.
    ///
    /// - Parameter settings: the names of the settings that the work reads.
    @discardableResult
    mutating func collect<Value>(_ settings: Set<String> = [], _ work: () throws -> Value) -> Value? {
        guard unusable.isDisjoint(with: settings) else { return nil }
        do { return try work() } catch {
            add(error, of: settings)
            return nil
        }
    }

    /// A fault that says its place itself, of settings that then have no value.
    mutating func addUnusable(_ error: any Error, _ settings: String...) { addUnusable(error, settings) }

    mutating func addUnusable(_ error: any Error, _ settings: [String]) {
        add(error)
        markUnusable(settings)
    }

    mutating func markUnusable(_ settings: [String]) { unusable.formUnion(settings) }

    mutating func add(_ error: any Error, of settings: Set<String> = []) {
        unusable.formUnion(settings)
        let found = (error as? ConfigurationError)?.faults ?? [ConfigurationError.Fault(text: "\(error)")]
        faults += found.map { fault in
            fault.settings.isEmpty ? ConfigurationError.Fault(text: fault.text, settings: settings.sorted()) : fault
        }
    }

    /// - Throws: ``ConfigurationError`` with all faults, if there are any.
    func finish() throws(ConfigurationError) {
        if !faults.isEmpty { throw ConfigurationError(faults) }
    }
}

/// Why the server refuses a configuration.
public struct ConfigurationError: Error, Sendable, CustomStringConvertible {
    /// One fault, as one line for the operator.
    struct Fault: Sendable, Equatable {
        var text: String
        /// The names of the settings that contradict each other; empty if the text says the place itself.
        var settings: [String] = []
    }

    /// At least one.
    let faults: [Fault]

    public init(_ description: String) { faults = [Fault(text: description)] }

    init(_ faults: [Fault]) { self.faults = faults }

    /// Each fault in a line.
    public var lines: [String] { faults.map(\.text) }
    public var description: String { lines.joined(separator: " ") }

    /// The same with the places of the settings: `SIGNALBOX_API_KEY`, `"tlsCert" in FILE`.
    func located(_ places: [String: String]) -> ConfigurationError {
        ConfigurationError(
            faults.map { fault in
                let given = fault.settings.compactMap { places[$0] }
                return Fault(text: given.isEmpty ? fault.text : "\(fault.text) (\(given.joined(separator: ", ")))")
            })
    }
}

extension Sequence {
    /// Like `map`, but continues after an element that throws.
    ///
    /// - Throws: ``ConfigurationError`` with the faults of all elements.
    func mapCollectingFaults<Value>(_ transform: (Element) throws -> Value) throws -> [Value] {
        var faults = FaultCollector()
        let values = compactMap { element in faults.collect { try transform(element) } }
        try faults.finish()
        return values
    }
}
