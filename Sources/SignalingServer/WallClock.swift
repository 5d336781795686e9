import FoundationEssentials
import SignalingProtocol

extension WallTime {
    /// The system's clock. Only shells read it.
    static var current: WallTime {
        WallTime(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
    }
}
