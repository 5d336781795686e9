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
///
/// The cases have their names of Objective-C: Swift takes a prefix off only if each name has a word behind it, and
/// `OTP2PSessionMaxParticipants` has none. The names without it stay as aliases.
// swift-format-ignore: AlwaysUseLowerCamelCase
public enum OTSessionErrorCode: Int32, CaseIterable, Sendable {
    case OTSessionSuccess = 0
    /// The server refused the token or the API key.
    case OTAuthorizationFailure = 1004
    /// The server refused the session ID.
    case OTErrorInvalidSession = 1005
    /// The server cannot be reached, or does not answer.
    case OTConnectionFailed = 1006
    /// The call needs a connection.
    case OTNotConnected = 1010
    /// An argument is empty, or a connection is not in the session.
    case OTNullOrInvalidParameter = 1011
    /// `connect` while connected, connecting or disconnecting.
    case OTSessionIllegalState = 1015
    case OTSessionStateFailed = 1020
    case OTSessionConnectionTimeout = 1021
    /// The connection was lost.
    case OTConnectionDropped = 1022
    case OTConnectionRefused = 1023
    case OTBlockedCountry = 1026
    /// The session is full.
    case OTSessionConnectionLimitExceeded = 1027
    /// `unsubscribe`: there are no subscribers.
    case OTSessionSubscriberNotFound = 1112
    /// `unpublish`: there are no publishers.
    case OTSessionPublisherNotFound = 1113
    case OTP2PSessionMaxParticipants = 1403
    /// A signal's data is over 8192 UTF-16 units.
    case OTSessionSignalDataTooLong = 1413
    /// A signal's type is over 128 characters, or has invalid characters.
    case OTSessionInvalidSignalType = 1461
    case OTNoMessagingServer = 1503
    /// `forceDisconnect` without the token of a moderator.
    case OTSessionUnableToForceDisconnect = 1520
    case OTSessionUnableToForceMute = 1540
    /// The token does not permit signals, or there are too many of them.
    case OTSessionUnableToSendSignal = 1550
    /// The server's answer was invalid.
    case OTSessionInternalError = 2000
    case OTSessionEncryptionSecretMissing = 6000
    case OTSessionInvalidEncryptionSecret = 6004

    /// The server's codes are those of OpenTok. For some of them the iOS library has a code of its own.
    init(_ code: SignalingError.Code) {
        switch code {
        case .invalidParameter, .notFound: self = .OTNullOrInvalidParameter
        case .permissionDenied, .rateLimited: self = .OTSessionUnableToSendSignal
        case .tooLong: self = .OTSessionSignalDataTooLong
        case .notConnected: self = .OTNotConnected
        case .userBanned: self = .OTAuthorizationFailure
        default: self = Int32(exactly: code.number).flatMap(Self.init(rawValue:)) ?? .OTSessionInternalError
        }
    }
}

extension OTSessionErrorCode {
    public static var sessionSuccess: Self { .OTSessionSuccess }
    public static var authorizationFailure: Self { .OTAuthorizationFailure }
    public static var errorInvalidSession: Self { .OTErrorInvalidSession }
    public static var connectionFailed: Self { .OTConnectionFailed }
    public static var notConnected: Self { .OTNotConnected }
    public static var nullOrInvalidParameter: Self { .OTNullOrInvalidParameter }
    public static var sessionIllegalState: Self { .OTSessionIllegalState }
    public static var sessionStateFailed: Self { .OTSessionStateFailed }
    public static var sessionConnectionTimeout: Self { .OTSessionConnectionTimeout }
    public static var connectionDropped: Self { .OTConnectionDropped }
    public static var connectionRefused: Self { .OTConnectionRefused }
    public static var blockedCountry: Self { .OTBlockedCountry }
    public static var sessionConnectionLimitExceeded: Self { .OTSessionConnectionLimitExceeded }
    public static var sessionSubscriberNotFound: Self { .OTSessionSubscriberNotFound }
    public static var sessionPublisherNotFound: Self { .OTSessionPublisherNotFound }
    public static var p2PSessionMaxParticipants: Self { .OTP2PSessionMaxParticipants }
    public static var sessionSignalDataTooLong: Self { .OTSessionSignalDataTooLong }
    public static var sessionInvalidSignalType: Self { .OTSessionInvalidSignalType }
    public static var noMessagingServer: Self { .OTNoMessagingServer }
    public static var sessionUnableToForceDisconnect: Self { .OTSessionUnableToForceDisconnect }
    public static var sessionUnableToForceMute: Self { .OTSessionUnableToForceMute }
    public static var sessionUnableToSendSignal: Self { .OTSessionUnableToSendSignal }
    public static var sessionInternalError: Self { .OTSessionInternalError }
    public static var sessionEncryptionSecretMissing: Self { .OTSessionEncryptionSecretMissing }
    public static var sessionInvalidEncryptionSecret: Self { .OTSessionInvalidEncryptionSecret }
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
#if canImport(ObjectiveC)
    public typealias OTErrorPointer = AutoreleasingUnsafeMutablePointer<OTError?>
#else
    public typealias OTErrorPointer = UnsafeMutablePointer<OTError?>
#endif
