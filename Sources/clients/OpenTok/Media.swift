import Foundation

// OpenTok's names for media, as far as a program that also uses signals needs them. Signalbox carries no media: there
// are no streams, and the calls report an error.

/// A stream. Signalbox has none.
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

public enum OTStreamVideoType: Int32, Sendable {
    case camera = 1
    case screen = 2
    case custom = 3
}

/// Describes a moderator's request to mute. Signalbox makes none.
public final class OTMuteForcedInfo: NSObject {
    public let active: Bool

    init(active: Bool) { self.active = active }
}

/// Why the video of a subscriber changes, for delegates that use the name.
public enum OTSubscriberVideoEventReason: Int32, Sendable {
    case publisherPropertyChanged = 1
    case subscriberPropertyChanged = 2
    case qualityChanged = 3
    case codecNotSupported = 4
}

/// The delegate of a publisher. The library never calls it.
public protocol OTPublisherKitDelegate: AnyObject {
    func publisher(_ publisher: OTPublisherKit, didFailWithError error: OTError)
    func publisher(_ publisher: OTPublisherKit, streamCreated stream: OTStream)
    func publisher(_ publisher: OTPublisherKit, streamDestroyed stream: OTStream)
}

extension OTPublisherKitDelegate {
    public func publisher(_ publisher: OTPublisherKit, streamCreated stream: OTStream) {}
    public func publisher(_ publisher: OTPublisherKit, streamDestroyed stream: OTStream) {}
}

/// The delegate of a publisher, without OpenTok's methods about cameras.
public protocol OTPublisherDelegate: OTPublisherKitDelegate {}

open class OTPublisherSettings: NSObject {
    public var name: String?
    public var audioTrack = true
    public var videoTrack = true

    public override init() {}
}

/// Keeps its settings, and publishes nothing.
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

/// A publisher, without OpenTok's view.
open class OTPublisher: OTPublisherKit {}

/// The delegate of a subscriber. The library never calls it.
public protocol OTSubscriberKitDelegate: AnyObject {
    func subscriberDidConnect(toStream subscriber: OTSubscriberKit)
    func subscriber(_ subscriber: OTSubscriberKit, didFailWithError error: OTError)
}

/// The delegate of a subscriber, without OpenTok's method about video.
public protocol OTSubscriberDelegate: OTSubscriberKitDelegate {}

/// Keeps its settings, and receives nothing.
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

/// A subscriber, without OpenTok's view.
open class OTSubscriber: OTSubscriberKit {}
