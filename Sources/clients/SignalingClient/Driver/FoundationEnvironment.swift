#if !SIGNALBOX_LIBWEBSOCKETS
    import SignalingFoundation
    import SignalingProtocol

    typealias StandardEnvironment = FoundationEnvironment

    /// The ``ClientEnvironment`` of Apple platforms: `URLSession`, and one queue for all sessions of a process.
    final class FoundationEnvironment: ClientEnvironment {
        static let shared = FoundationEnvironment()

        private let loop = DispatchLoop(label: "signalbox-client")

        private init() {}

        func start() throws(SignalingError) {}

        func post(_ work: @escaping @Sendable () -> Void) { loop.post(work) }

        var now: MonotonicInstant { loop.now }

        var wallTime: WallTime { loop.wallTime }

        func random() -> Double { Double.random(in: 0..<1) }

        func makeTimer(_ fire: @escaping () -> Void) -> any ClientTimer { DispatchTimer(loop: loop, fire: fire) }

        func openLink(
            url: String, trustedCertificatesFile: String?, onEvent: @escaping (ClientLinkEvent) -> Void
        ) throws(SignalingError) -> any ClientLink {
            try TaskSocket(loop: loop, url: url, trustedCertificatesFile: trustedCertificatesFile) { report in
                switch report {
                case .opened: onEvent(.opened)
                case .received(let bytes): bytes.withUnsafeBytes { onEvent(.received($0)) }
                case .drained: onEvent(.drained)
                case .closed(let code): onEvent(.closed(code: code))
                case .failed(let failure): onEvent(.failed(failure.signalingError))
                }
            }
        }

        func watchDevice(_ onChange: @escaping @Sendable (DeviceLife) -> Void) -> (any Sendable)? {
            DeviceWatch(onChange)
        }
    }

    extension DispatchTimer: ClientTimer {}

    extension TaskSocket: ClientLink {}
#endif
