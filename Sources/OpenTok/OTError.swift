import Foundation
import SignalingClient

// OpenTok's names for the domains of its errors.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let OT_SESSION_ERROR_DOMAIN = "OTSessionErrorDomain"
// swift-format-ignore: AlwaysUseLowerCamelCase
public let OT_PUBLISHER_ERROR_DOMAIN = "OTPublisherErrorDomain"
// swift-format-ignore: AlwaysUseLowerCamelCase
public let OT_SUBSCRIBER_ERROR_DOMAIN = "OTSubscriberErrorDomain"

/// What went wrong: `domain`, `code` (``OTSessionErrorCode``) and `localizedDescription`, as any `NSError` has them.
open class OTError: NSError, @unchecked Sendable {
    // Unchecked, as NSError is: all of it is immutable.

    convenience init(_ code: OTSessionErrorCode, _ sentence: String) {
        self.init(
            domain: OT_SESSION_ERROR_DOMAIN, code: Int(code.rawValue),
            userInfo: [NSLocalizedDescriptionKey: sentence])
    }

    convenience init(_ error: SignalingError) {
        self.init(OTSessionErrorCode(error.code), error.message)
    }

    /// `domain`, code and sentence on one line.
    open override var description: String { "\(localizedDescription) (\(domain) \(code))" }
}

/// OpenTok's numbers in an ``OTError`` of a session. This library gives those whose lines say when; the others are there
/// for programs that name them.
public enum OTSessionErrorCode: Int32, CaseIterable, Sendable {
    case sessionSuccess = 0
    /// The token or the key was refused.
    case authorizationFailure = 1004
    /// The session id was refused.
    case errorInvalidSession = 1005
    /// The server cannot be reached, or did not answer.
    case connectionFailed = 1006
    /// The call needs a connection.
    case notConnected = 1010
    /// Something is empty that must not be, or a connection is not in the session.
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
    /// A signal's type is over 128 characters, or has characters that a type may not have.
    case sessionInvalidSignalType = 1461
    case noMessagingServer = 1503
    /// `forceDisconnect` without a moderator's token.
    case sessionUnableToForceDisconnect = 1520
    case sessionUnableToForceMute = 1540
    /// The token does not permit signals, or there were too many.
    case sessionUnableToSendSignal = 1550
    /// The server's answer made no sense.
    case sessionInternalError = 2000
    case sessionEncryptionSecretMissing = 6000
    case sessionInvalidEncryptionSecret = 6004

    /// The server's numbers are OpenTok's, except those for which the iOS library has its own.
    init(_ code: SignalingError.Code) {
        switch code {
        case .invalidParameter, .notFound: self = .nullOrInvalidParameter
        case .permissionDenied, .rateLimited: self = .sessionUnableToSendSignal
        case .tooLong: self = .sessionSignalDataTooLong
        case .notConnected: self = .notConnected
        default: self = Int32(exactly: code.number).flatMap(Self.init(rawValue:)) ?? .sessionInternalError
        }
    }
}

/// OpenTok's numbers in an ``OTError`` about publishing.
public enum OTPublisherErrorCode: Int32, CaseIterable, Sendable {
    case publisherSuccess = 0
    case sessionDisconnected = 1010
    case publisherWebRTCError = 1610
    /// `publish`: there is no media here.
    case publisherInternalError = 2000
}

/// OpenTok's numbers in an ``OTError`` about subscribing.
public enum OTSubscriberErrorCode: Int32, CaseIterable, Sendable {
    case subscriberSuccess = 0
    case subscriberSessionDisconnected = 1541
    case connectionTimedOut = 1542
    case subscriberWebRTCError = 1600
    case subscriberServerCannotFindStream = 1604
    case subscriberStreamLimitExceeded = 1605
    /// `subscribe`: there is no media here.
    case subscriberInternalError = 2000
}

/// Where a call puts its error: `&error` of a `var error: OTError?`, or `nil`.
public typealias OTErrorPointer = UnsafeMutablePointer<OTError?>
