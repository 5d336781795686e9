import FoundationEssentials
import SignalingProtocol

extension WallTime {
    /// The system's clock. Only shells read it, to date tokens and events; rules get the time as an argument.
    package static var current: WallTime {
        WallTime(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
    }
}
