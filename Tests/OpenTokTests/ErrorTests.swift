import Foundation
import SignalingProtocol
import Testing

@testable import OpenTok

@Suite("OpenTok's errors", .timeLimit(.minutes(5)))
struct ErrorTests {
    @Test("the codes are exactly those of OpenTok")
    func numbers() {
        #expect(
            Set(OTSessionErrorCode.allCases.map(\.rawValue)) == [
                0, 1004, 1005, 1006, 1010, 1011, 1015, 1020, 1021, 1022, 1023, 1026, 1027, 1112, 1113, 1403, 1413, 1461,
                1503, 1520, 1540, 1550, 2000, 6000, 6004,
            ])
    }

    @Test("the cases have the names that Swift gives to those of OpenTok's headers, and their older names stay")
    func names() {
        #expect(
            OTSessionErrorCode.allCases.map { "\($0)" } == [
                "OTSessionSuccess", "OTAuthorizationFailure", "OTErrorInvalidSession", "OTConnectionFailed",
                "OTNotConnected", "OTNullOrInvalidParameter", "OTSessionIllegalState", "OTSessionStateFailed",
                "OTSessionConnectionTimeout", "OTConnectionDropped", "OTConnectionRefused", "OTBlockedCountry",
                "OTSessionConnectionLimitExceeded", "OTSessionSubscriberNotFound", "OTSessionPublisherNotFound",
                "OTP2PSessionMaxParticipants", "OTSessionSignalDataTooLong", "OTSessionInvalidSignalType",
                "OTNoMessagingServer", "OTSessionUnableToForceDisconnect", "OTSessionUnableToForceMute",
                "OTSessionUnableToSendSignal", "OTSessionInternalError", "OTSessionEncryptionSecretMissing",
                "OTSessionInvalidEncryptionSecret",
            ])
        /// As a program does it.
        func isLost(_ error: OTError) -> Bool {
            switch OTSessionErrorCode(rawValue: Int32(error.code)) {
            case .OTConnectionDropped, .OTConnectionFailed: true
            default: false
            }
        }
        #expect(isLost(OTError(.OTConnectionDropped, "")) && !isLost(OTError(.OTErrorInvalidSession, "")))
        #expect(OTSessionErrorCode.connectionDropped == .OTConnectionDropped)
        #expect(OTSessionErrorCode.p2PSessionMaxParticipants.rawValue == 1403)
    }

    @Test("an OTError is an NSError with domain, code and message, and can be thrown")
    func shape() throws {
        let error = OTError(.sessionInvalidSignalType, "no such type")
        #expect(error.domain == "OTSessionErrorDomain")
        #expect(OT_SESSION_ERROR_DOMAIN == "OTSessionErrorDomain")
        #expect(error.code == 1461)
        #expect(error.localizedDescription == "no such type")
        #expect(error.description == "no such type (OTSessionErrorDomain 1461)")
        #expect((error as NSError).code == 1461)
        let caught = #expect(throws: OTError.self) { throw error }
        #expect(caught === error)
        #expect((error as any Error).localizedDescription == "no such type")
    }

    @Test("each error of the protocol has its OpenTok code")
    func mapping() {
        let numbers: [Int: Int32] = [
            400: 1011, 403: 1550, 404: 1011, 413: 1413, 429: 1550, 500: 1010, 1004: 1004, 1005: 1005, 1006: 1006,
            1010: 1010, 1011: 1011, 1015: 1015, 1027: 1027, 1520: 1520, 1570: 1004, 2001: 2000,
            // This library announces no streams.
            1500: 2000, 1605: 2000,
        ]
        #expect(Set(numbers.keys) == Set(SignalingError.Code.all.map(\.number)))
        for code in SignalingError.Code.all {
            #expect(OTSessionErrorCode(code).rawValue == numbers[code.number], "\(code.number)")
            #expect(OTError(SignalingError(code, "a message")).localizedDescription == "a message")
        }
        #expect(OTSessionErrorCode(SignalingError.Code(number: 77_777, name: "?")) == .sessionInternalError)
        #expect(OTSessionErrorCode(SignalingError.Code(number: .max, name: "?")) == .sessionInternalError)
    }
}
