import Foundation
import Locking

extension OTSession {
    private static let chosenServer = Lock<URL?>(nil)

    /// Not in OpenTok: the server of all sessions whose settings name none. A session reads it when it connects.
    ///
    /// The default, `nil`, stands for the environment variable `SIGNALBOX_SERVER`, or else `http://127.0.0.1:8080`.
    public static var serverURL: URL? {
        get { chosenServer.withLock { $0 } }
        set { chosenServer.withLock { $0 = newValue } }
    }

    /// The address of the server. The client reports an invalid address like a server that cannot be reached.
    func server(environment: [String: String] = ProcessInfo.processInfo.environment) -> String {
        (apiURL ?? Self.serverURL)?.absoluteString ?? environment["SIGNALBOX_SERVER"] ?? "http://127.0.0.1:8080"
    }
}
