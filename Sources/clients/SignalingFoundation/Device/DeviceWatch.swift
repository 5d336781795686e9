import Foundation
import SignalingProtocol

#if canImport(Network)
    import Network
#endif
#if os(watchOS)
    import WatchKit
#elseif canImport(UIKit)
    import UIKit
#elseif canImport(AppKit)
    import AppKit
#endif

/// Reports the changes of the device's life until it is released. It decides nothing: ``NetworkPath`` and the client's
/// state do.
///
/// Unchecked: the tokens are set on the main actor once, and read by `deinit`.
package final class DeviceWatch: @unchecked Sendable {
    private let onChange: @Sendable (DeviceLife) -> Void
    private var tokens: [(center: NotificationCenter, token: any NSObjectProtocol)] = []
    #if canImport(Network)
        private let monitor = NWPathMonitor()
    #endif

    /// - Parameter onChange: called on a thread of the system.
    package init(_ onChange: @escaping @Sendable (DeviceLife) -> Void) {
        self.onChange = onChange
        watchNetwork()
        // The names of the notifications belong to the main actor.
        Task { @MainActor [weak self] in self?.watchApp() }
    }

    deinit {
        #if canImport(Network)
            monitor.cancel()
        #endif
        for (center, token) in tokens { center.removeObserver(token) }
    }

    private func watchNetwork() {
        #if canImport(Network)
            let onChange = onChange
            // The monitor calls the handler on its own queue, one call at a time.
            nonisolated(unsafe) var path = NetworkPath()
            monitor.pathUpdateHandler = { update in
                let isUsable = update.status == .satisfied
                if let change = path.update(isUsable ? update.availableInterfaces.map(\.name) : []) { onChange(change) }
            }
            monitor.start(queue: DispatchQueue(label: "signalbox-network"))
        #endif
    }

    @MainActor
    private func watchApp() {
        #if os(watchOS)
            observe(WKApplication.didEnterBackgroundNotification, .background)
            observe(WKApplication.willEnterForegroundNotification, .foreground)
        #elseif canImport(UIKit)
            observe(UIApplication.didEnterBackgroundNotification, .background)
            observe(UIApplication.willEnterForegroundNotification, .foreground)
        #elseif canImport(AppKit)
            // A Mac's app goes on in the background; its sockets do not survive the sleep of the Mac.
            let center = NSWorkspace.shared.notificationCenter
            observe(NSWorkspace.willSleepNotification, .background, in: center)
            observe(NSWorkspace.didWakeNotification, .foreground, in: center)
        #endif
    }

    @MainActor
    private func observe(_ name: Notification.Name, _ change: DeviceLife, in center: NotificationCenter = .default) {
        let onChange = onChange
        tokens.append((center, center.addObserver(forName: name, object: nil, queue: nil) { _ in onChange(change) }))
    }
}
