import Dispatch

public struct NWInterface: Hashable, Sendable { public let name: String }

public struct NWPath: Sendable {
    public enum Status: Sendable { case satisfied, unsatisfied, requiresConnection }
    public let status: Status
    public let availableInterfaces: [NWInterface]
}

public final class NWPathMonitor: Sendable {
    public init() {}
    @preconcurrency public var pathUpdateHandler: (@Sendable (NWPath) -> Void)? {
        get { nil }
        set {}
    }
    public func start(queue: DispatchQueue) {}
    public func cancel() {}
}
