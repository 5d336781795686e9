import Foundation

// OpenTok's media calls. Each reports an error.
extension OTSession {
    private static let noMedia = "Signalbox carries signals, but no audio and video"

    /// Why a media call fails. Connecting first does not help either, but OpenTok reports this error first.
    private var mediaFailure: String { connection == nil ? "not connected to the session" : Self.noMedia }

    /// Publishes nothing. The error is 2000, or 1010 if the session is not connected. The session continues.
    public func publish(_ publisher: OTPublisherKit, error: OTErrorPointer? = nil) {
        let code: OTPublisherErrorCode = connection == nil ? .sessionDisconnected : .publisherInternalError
        error?.pointee = OTError(
            domain: OT_PUBLISHER_ERROR_DOMAIN, code: Int(code.rawValue),
            userInfo: [NSLocalizedDescriptionKey: mediaFailure])
    }

    /// Does nothing. The error is 1113: there is no such publisher.
    public func unpublish(_ publisher: OTPublisherKit, error: OTErrorPointer? = nil) {
        error?.pointee = OTError(.sessionPublisherNotFound, Self.noMedia)
    }

    /// Subscribes to nothing. The error is 2000, or 1541 if the session is not connected. The session continues.
    public func subscribe(_ subscriber: OTSubscriberKit, error: OTErrorPointer? = nil) {
        let code: OTSubscriberErrorCode =
            connection == nil ? .subscriberSessionDisconnected : .subscriberInternalError
        error?.pointee = OTError(
            domain: OT_SUBSCRIBER_ERROR_DOMAIN, code: Int(code.rawValue),
            userInfo: [NSLocalizedDescriptionKey: mediaFailure])
    }

    /// Does nothing. The error is 1112: there is no such subscriber.
    public func unsubscribe(_ subscriber: OTSubscriberKit, error: OTErrorPointer? = nil) {
        error?.pointee = OTError(.sessionSubscriberNotFound, Self.noMedia)
    }

    /// Mutes nobody: there are no streams. The error is 1540, or 1010 if the session is not connected.
    public func forceMuteAll(_ excludedStreams: [OTStream]?, error: OTErrorPointer? = nil) { failToMute(error) }

    /// Mutes nobody. The errors are those of ``forceMuteAll(_:error:)``.
    public func forceMuteStream(_ stream: OTStream, error: OTErrorPointer? = nil) { failToMute(error) }

    /// Does nothing. The errors are those of ``forceMuteAll(_:error:)``.
    public func disableForceMute(_ error: OTErrorPointer? = nil) { failToMute(error) }

    /// With success, the program would believe that the session is muted.
    private func failToMute(_ error: OTErrorPointer?) {
        error?.pointee = connection == nil ? .notConnected : OTError(.sessionUnableToForceMute, Self.noMedia)
    }

    /// Accepts the secret with which OpenTok encrypts media, and does nothing with it: there is no media. OpenTok does not
    /// encrypt signals with it either. The error is 6004 for a secret that has not 8 to 256 characters.
    public func setEncryptionSecret(_ secret: String, error: OTErrorPointer? = nil) {
        error?.pointee =
            (8...256).contains(secret.utf16.count)
            ? nil : OTError(.sessionInvalidEncryptionSecret, "use an encryption secret of 8 to 256 characters")
    }

    /// Reports nothing: no service collects reports. The issue's ID is `nil`.
    public func reportIssue(_ issueId: UnsafeMutablePointer<NSString?>?) { issueId?.pointee = nil }
}
