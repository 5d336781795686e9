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
}
