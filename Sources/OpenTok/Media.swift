import Foundation

// OpenTok's names for sound and pictures, as far as a program that also signals has to name them. Signalbox carries none:
// there are no streams, and the calls answer with an error.

/// There are none.
public final class OTStream: NSObject {
    public let streamId: String
    public let connection: OTConnection
    public let session: OTSession
    public let name: String?
    public let creationTime: Date
    public let hasAudio: Bool
    public let hasVideo: Bool
    public let videoType = OTStreamVideoType.camera
    public let videoDimensions = CGSize.zero

    init(streamId: String, connection: OTConnection, session: OTSession) {
        self.streamId = streamId
        self.connection = connection
        self.session = session
        name = nil
        creationTime = connection.creationTime
        hasAudio = false
        hasVideo = false
    }
}

public enum OTStreamVideoType: Int, Sendable {
    case camera = 1
    case screen = 2
    case custom = 3
}

/// What a moderator's muting is told with, which never happens here.
public final class OTMuteForcedInfo: NSObject {
    public let active: Bool

    init(active: Bool) { self.active = active }
}

/// Why pictures stop or come back, for delegates that name it.
public enum OTSubscriberVideoEventReason: Int, Sendable {
    case publisherPropertyChanged = 1
    case subscriberPropertyChanged = 2
    case qualityChanged = 3
    case codecNotSupported = 4
}

/// Never called, except by a program itself.
public protocol OTPublisherKitDelegate: AnyObject {
    func publisher(_ publisher: OTPublisherKit, didFailWithError error: OTError)
    func publisher(_ publisher: OTPublisherKit, streamCreated stream: OTStream)
    func publisher(_ publisher: OTPublisherKit, streamDestroyed stream: OTStream)
}

extension OTPublisherKitDelegate {
    public func publisher(_ publisher: OTPublisherKit, streamCreated stream: OTStream) {}
    public func publisher(_ publisher: OTPublisherKit, streamDestroyed stream: OTStream) {}
}

/// OpenTok's has methods about cameras beside those that it inherits.
public protocol OTPublisherDelegate: OTPublisherKitDelegate {}

open class OTPublisherSettings: NSObject {
    public var name: String?
    public var audioTrack = true
    public var videoTrack = true

    public override init() {}
}

/// Holds what it is told, and publishes nothing.
open class OTPublisherKit: NSObject {
    public weak var delegate: (any OTPublisherKitDelegate)?
    public let name: String?
    public var publishAudio: Bool
    public var publishVideo: Bool
    public var stream: OTStream? { nil }

    public convenience init?(delegate: (any OTPublisherKitDelegate)?) {
        self.init(delegate: delegate, settings: OTPublisherSettings())
    }

    public init?(delegate: (any OTPublisherKitDelegate)?, settings: OTPublisherSettings) {
        self.delegate = delegate
        name = settings.name
        publishAudio = settings.audioTrack
        publishVideo = settings.videoTrack
    }
}

/// OpenTok's has a view, which is absent here.
open class OTPublisher: OTPublisherKit {}

/// Never called, except by a program itself.
public protocol OTSubscriberKitDelegate: AnyObject {
    func subscriberDidConnect(toStream subscriber: OTSubscriberKit)
    func subscriber(_ subscriber: OTSubscriberKit, didFailWithError error: OTError)
}

/// OpenTok's has a method about pictures beside those that it inherits.
public protocol OTSubscriberDelegate: OTSubscriberKitDelegate {}

/// Holds what it is told, and receives nothing.
open class OTSubscriberKit: NSObject {
    public weak var delegate: (any OTSubscriberKitDelegate)?
    public let stream: OTStream?
    public var subscribeToAudio = true
    public var subscribeToVideo = true

    public init?(stream: OTStream, delegate: (any OTSubscriberKitDelegate)?) {
        self.stream = stream
        self.delegate = delegate
    }
}

/// OpenTok's has a view, which is absent here.
open class OTSubscriber: OTSubscriberKit {}

extension OTSession {
    private static let sentence = "this server carries signals, no sound and no pictures"

    /// Publishes nothing: 2000, or 1010 when not connected. The session goes on.
    public func publish(_ publisher: OTPublisherKit, error: OTErrorPointer? = nil) {
        let code: OTPublisherErrorCode = connection == nil ? .sessionDisconnected : .publisherInternalError
        error?.pointee = OTError(
            domain: OT_PUBLISHER_ERROR_DOMAIN, code: Int(code.rawValue),
            userInfo: [NSLocalizedDescriptionKey: Self.sentence])
    }

    /// Does nothing: 1113, since nothing was published.
    public func unpublish(_ publisher: OTPublisherKit, error: OTErrorPointer? = nil) {
        error?.pointee = OTError(.sessionPublisherNotFound, Self.sentence)
    }

    /// Subscribes to nothing: 2000, or 1541 when not connected. The session goes on.
    public func subscribe(_ subscriber: OTSubscriberKit, error: OTErrorPointer? = nil) {
        let code: OTSubscriberErrorCode =
            connection == nil ? .subscriberSessionDisconnected : .subscriberInternalError
        error?.pointee = OTError(
            domain: OT_SUBSCRIBER_ERROR_DOMAIN, code: Int(code.rawValue),
            userInfo: [NSLocalizedDescriptionKey: Self.sentence])
    }

    /// Does nothing: 1112, since nothing was subscribed to.
    public func unsubscribe(_ subscriber: OTSubscriberKit, error: OTErrorPointer? = nil) {
        error?.pointee = OTError(.sessionSubscriberNotFound, Self.sentence)
    }
}
