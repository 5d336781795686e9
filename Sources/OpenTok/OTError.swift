import Foundation
import SignalingClient

// The domains of OpenTok's errors.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let OT_SESSION_ERROR_DOMAIN = "OTSessionErrorDomain"
// swift-format-ignore: AlwaysUseLowerCamelCase
public let OT_PUBLISHER_ERROR_DOMAIN = "OTPublisherErrorDomain"
// swift-format-ignore: AlwaysUseLowerCamelCase
public let OT_SUBSCRIBER_ERROR_DOMAIN = "OTSubscriberErrorDomain"

/// An error of a session, a publisher or a subscriber: `domain`, `code` and `localizedDescription`, as of any
/// `NSError`.
///
/// The codes are in ``OTSessionErrorCode``, ``OTPublisherErrorCode`` and ``OTSubscriberErrorCode``.
open class OTError: NSError, @unchecked Sendable {
    // Unchecked, as NSError is: it is immutable.

    /// The error of a call that needs a connection.
    static var notConnected: OTError { OTError(.notConnected, "not connected to the session; connect first") }

    convenience init(_ code: OTSessionErrorCode, _ message: String) {
        self.init(
            domain: OT_SESSION_ERROR_DOMAIN, code: Int(code.rawValue),
            userInfo: [NSLocalizedDescriptionKey: message])
    }

    convenience init(_ error: SignalingError) {
        self.init(OTSessionErrorCode(error.code), error.message)
    }

    /// Message, domain and code on one line.
    open override var description: String { "\(localizedDescription) (\(domain) \(code))" }
}

/// OpenTok's codes for an error of a session. This library uses the codes with a comment. The others exist for programs
/// that name them.
public enum OTSessionErrorCode: Int32, CaseIterable, Sendable {
    case sessionSuccess = 0
    /// The server refused the token or the API key.
    case authorizationFailure = 1004
    /// The server refused the session ID.
    case errorInvalidSession = 1005
    /// The server cannot be reached, or does not answer.
    case connectionFailed = 1006
    /// The call needs a connection.
    case notConnected = 1010
    /// An argument is empty, or a connection is not in the session.
    case nullOrInvalidParameter = 1011
    /// `connect` while connected, connecting or disconnecting.
    case sessionIllegalState = 1015
    case sessionStateFailed = 1020
    case sessionConnectionTimeout = 1021
    /// The connection was lost.
    case connectionDropped = 1022
    case connectionRefused = 1023
    case blockedCountry = 1026
    /// The session is full.
    case sessionConnectionLimitExceeded = 1027
    /// `unsubscribe`: there are no subscribers.
    case sessionSubscriberNotFound = 1112
    /// `unpublish`: there are no publishers.
    case sessionPublisherNotFound = 1113
    case p2PSessionMaxParticipants = 1403
    /// A signal's data is over 8192 UTF-16 units.
    case sessionSignalDataTooLong = 1413
    /// A signal's type is over 128 characters, or has invalid characters.
    case sessionInvalidSignalType = 1461
    case noMessagingServer = 1503
    /// `forceDisconnect` without the token of a moderator.
    case sessionUnableToForceDisconnect = 1520
    case sessionUnableToForceMute = 1540
    /// The token does not permit signals, or there are too many of them.
    case sessionUnableToSendSignal = 1550
    /// The server's answer was invalid.
    case sessionInternalError = 2000
    case sessionEncryptionSecretMissing = 6000
    case sessionInvalidEncryptionSecret = 6004

    /// The server's codes are those of OpenTok. For some of them the iOS library has a code of its own.
    init(_ code: SignalingError.Code) {
        switch code {
        case .invalidParameter, .notFound: self = .nullOrInvalidParameter
        case .permissionDenied, .rateLimited: self = .sessionUnableToSendSignal
        case .tooLong: self = .sessionSignalDataTooLong
        case .notConnected: self = .notConnected
        case .userBanned: self = .authorizationFailure
        default: self = Int32(exactly: code.number).flatMap(Self.init(rawValue:)) ?? .sessionInternalError
        }
    }
}

/// OpenTok's codes for an error of a publisher.
public enum OTPublisherErrorCode: Int32, CaseIterable, Sendable {
    case publisherSuccess = 0
    case sessionDisconnected = 1010
    case publisherWebRTCError = 1610
    /// `publish`: Signalbox carries no media.
    case publisherInternalError = 2000
}

/// OpenTok's codes for an error of a subscriber.
public enum OTSubscriberErrorCode: Int32, CaseIterable, Sendable {
    case subscriberSuccess = 0
    case subscriberSessionDisconnected = 1541
    case connectionTimedOut = 1542
    case subscriberWebRTCError = 1600
    case subscriberServerCannotFindStream = 1604
    case subscriberStreamLimitExceeded = 1605
    /// `subscribe`: Signalbox carries no media.
    case subscriberInternalError = 2000
}

/// Where a call stores its error: `&error` of a `var error: OTError?`, or `nil`.
public typealias OTErrorPointer = UnsafeMutablePointer<OTError?>
