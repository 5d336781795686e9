/// Close codes of RFC 6455 and its registry that the server never sends. Clients, proxies and lost sockets report them.
package enum StandardCloseCode {
    /// The close frame had no code (RFC 6455, section 7.1.5).
    package static let noStatus: UInt16 = 1005
    /// The socket was lost without a close frame.
    package static let abnormal: UInt16 = 1006
    package static let serviceRestart: UInt16 = 1012
    package static let tryAgainLater: UInt16 = 1013
    package static let badGateway: UInt16 = 1014
}
