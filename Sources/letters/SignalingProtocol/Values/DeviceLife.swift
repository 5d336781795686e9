/// A change in the life of a phone, or of another device whose system stops programs and changes networks.
package enum DeviceLife: Hashable, Sendable {
    /// The app leaves the screen: the system stops it soon.
    case background
    /// The app is back on the screen.
    case foreground
    /// There is a network again, or another one.
    case networkBack
}
