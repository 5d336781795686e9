import JSONText

/// A stream that a client says it publishes (STR-1). The server carries no media: others learn who publishes.
public struct AnnouncedStream: Hashable, Sendable {
    /// What the video shows, by OpenTok's names.
    public enum VideoType: String, CaseIterable, Sendable { case camera, screen, custom }

    /// Given by the client. No other stream of the session has it.
    public var id: String
    public var name: String
    public var hasAudio: Bool
    public var hasVideo: Bool
    /// `nil` for a stream without video.
    public var videoType: VideoType?
    /// By the client's clock.
    public var creationTime: WallTime

    public init(
        id: String, name: String = "", hasAudio: Bool = true, hasVideo: Bool = true, videoType: VideoType? = nil,
        creationTime: WallTime
    ) {
        self.id = id
        self.name = name
        self.hasAudio = hasAudio
        self.hasVideo = hasVideo
        self.videoType = videoType
        self.creationTime = creationTime
    }

    /// Checks the list of one connection (STR-1).
    ///
    /// - Throws: `tooLong` for a long name, `invalidParameter` for too many streams, and for an ID that is not valid or
    ///   comes twice.
    public static func validate(_ streams: [AnnouncedStream]) throws(SignalingError) {
        if streams.count > Limits.streamCountPerConnection {
            throw SignalingError(
                .invalidParameter,
                "\"streams\" has \(streams.count) streams, and at most \(Limits.streamCountPerConnection) are allowed")
        }
        for stream in streams {
            guard (1...Limits.streamIDByteCount).contains(stream.id.utf8.count),
                stream.id.utf8.allSatisfy(isIDCharacter)
            else {
                throw SignalingError(
                    .invalidParameter,
                    "\"streamId\" must have 1 to \(Limits.streamIDByteCount) letters, digits, and characters - _")
            }
            if stream.name.utf8.count > Limits.streamNameByteCount {
                throw SignalingError(
                    .tooLong,
                    "\"name\" has \(stream.name.utf8.count) bytes, and at most \(Limits.streamNameByteCount) are allowed"
                )
            }
        }
        if Set(streams.map(\.id)).count < streams.count {
            throw SignalingError(.invalidParameter, "\"streams\" has the same \"streamId\" twice")
        }
    }

    private static func isIDCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

/// All streams of one connection, as the others learn of them (STR-2).
public struct StreamAnnouncement: Hashable, Sendable {
    public var connection: Connection
    public var streams: [AnnouncedStream]

    public init(connection: Connection, streams: [AnnouncedStream]) {
        self.connection = connection
        self.streams = streams
    }

    /// The event as one line of JSON.
    ///
    /// - Parameter reason: why the connection leaves the session, if it does (STR-3).
    public func line(_ seq: Seq, reason: DisconnectReason? = nil) -> EncodedLine {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("ev", "streams")
        writer.member("seq", seq.rawValue)
        writeMembers(to: &writer)
        if let reason { writer.member("reason", reason.rawValue) }
        writer.endObject()
        return EncodedLine(json: writer.bytes)
    }

    /// As an element of `connected` (STR-2).
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writeMembers(to: &writer)
        writer.endObject()
    }

    /// The bytes of the element.
    public var byteCount: Int {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.bytes.count
    }

    private func writeMembers(to writer: inout JSONWriter) {
        writer.name("connection")
        connection.write(to: &writer)
        writer.member("streams", streams)
    }
}

extension AnnouncedStream {
    init(_ reader: MessageReader) throws(ClientMessageError) {
        let type = try reader.string("videoType")
        let videoType = type.flatMap { VideoType(rawValue: $0) }
        if type != nil, videoType == nil { throw reader.refusal("\"videoType\" is camera, screen or custom") }
        let time = try reader.requiredInteger("creationTime")
        // What a JavaScript number can hold.
        guard (0...9_007_199_254_740_991).contains(time) else {
            throw reader.refusal("\"creationTime\" must be milliseconds since 1970")
        }
        self.init(
            id: try reader.requiredString("streamId"), name: try reader.string("name") ?? "",
            hasAudio: try reader.bool("hasAudio") ?? false, hasVideo: try reader.bool("hasVideo") ?? false,
            videoType: videoType, creationTime: WallTime(milliseconds: time))
    }

    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("streamId", id)
        writer.member("name", name)
        writer.member("hasAudio", hasAudio)
        writer.member("hasVideo", hasVideo)
        if let videoType { writer.member("videoType", videoType.rawValue) }
        writer.member("creationTime", creationTime.milliseconds)
        writer.endObject()
    }
}

extension JSONWriter {
    mutating func member(_ name: StaticString, _ streams: [AnnouncedStream]) {
        self.name(name)
        beginArray()
        for stream in streams { stream.write(to: &self) }
        endArray()
    }
}
