import CLibcurl
import EventLoop
import SignalingProtocol

/// One post. Used on the thread of its ``HTTPPoster``.
final class Transfer {
    /// The poster cuts the connection of a response with more bytes, head and body together.
    static let responseByteCount = 64 << 10
    /// How long the rest of a response may take after its head. The status is all that the poster wants; it reads the
    /// rest only to keep the connection. A shorter wait would cut connections of receivers that are merely slow.
    static let restTime = Duration.seconds(1)

    let id: HTTPPoster.PostID
    let completion: HTTPPoster.Completion
    /// When the poster ends the post.
    private(set) var deadline: MonotonicInstant
    /// Of a response whose head is complete.
    private var status: Int?
    private var byteCount = 0
    private let handle: CurlEasy
    var easy: UnsafeMutableRawPointer { handle.pointer }

    /// - Returns: `nil` without memory.
    init?(_ post: HTTPPost, id: HTTPPoster.PostID, now: MonotonicInstant, completion: @escaping HTTPPoster.Completion) {
        guard let handle = CurlEasy() else { return nil }
        self.handle = handle
        self.id = id
        self.completion = completion
        deadline = now.advanced(by: post.timeLimit)
        guard handle.setAddress(post.url), handle.setContent(post.headers, body: post.body), setTimes(post),
            setCallbacks()
        else { return nil }
    }

    /// - Parameter result: of libcurl.
    func outcome(_ result: CURLcode) -> PostOutcome { status.map { .answered($0) } ?? .failed(PostFault(result)) }

    /// The same, for a post that libcurl has not ended.
    func outcome(_ fault: PostFault) -> PostOutcome { status.map { .answered($0) } ?? .failed(fault) }

    // MARK: - Options

    private func setTimes(_ post: HTTPPost) -> Bool {
        // Half of the time, so that the log tells a receiver that cannot be reached from a slow one.
        handle.set(CURLOPT_CONNECTTIMEOUT_MS, Int(post.timeLimit.wholeMilliseconds / 2))
            // Without it, the end of a post waits for a search that hangs, and the posts to other receivers with it.
            && handle.set(CURLOPT_QUICK_EXIT, 1)
    }

    /// libcurl calls them with this transfer, which outlives its easy handle.
    private func setCallbacks() -> Bool {
        let this = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
        return handle.set(CURLOPT_PRIVATE, this) && handle.set(CURLOPT_HEADERDATA, this)
            && handle.set(CURLOPT_WRITEDATA, this) && handle.set(CURLOPT_HEADERFUNCTION, receiveHeadLine)
            && handle.set(CURLOPT_WRITEFUNCTION, receiveBody)
            // The response of a proxy to CONNECT is not the receiver's.
            && handle.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    }

    // MARK: - What arrives

    /// - Returns: whether the transfer goes on.
    fileprivate func receivedHeadLine(isLast: Bool, byteCount: Int) -> Bool {
        if isLast, case let status = signalbox_curl_status(easy), status >= 200 {
            self.status = status
            deadline = min(deadline, EventLoop.now.advanced(by: Self.restTime))
        }
        return received(byteCount)
    }

    fileprivate func received(_ byteCount: Int) -> Bool {
        self.byteCount += byteCount
        return self.byteCount <= Self.responseByteCount
    }
}

/// libcurl calls it with each line of a head, also of those with a status of 100 to 199, and of a trailer. A result other
/// than the number of bytes ends the transfer.
private let receiveHeadLine: curl_write_callback = { line, size, count, transfer in
    guard let line, let transfer else { return 0 }
    let isLast = size * count <= 2 && (line[0] == 0x0D || line[0] == 0x0A)
    let goesOn = Unmanaged<Transfer>.fromOpaque(transfer).takeUnretainedValue()
        .receivedHeadLine(isLast: isLast, byteCount: size * count)
    return goesOn ? size * count : 0
}

/// The same for a piece of a body.
private let receiveBody: curl_write_callback = { _, size, count, transfer in
    guard let transfer else { return 0 }
    return Unmanaged<Transfer>.fromOpaque(transfer).takeUnretainedValue().received(size * count) ? size * count : 0
}

extension PostFault {
    /// - Parameter result: of a transfer without a response.
    fileprivate init(_ result: CURLcode) {
        switch result {
        case CURLE_OPERATION_TIMEDOUT: self = .timedOut
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: self = .unknownHost
        case CURLE_COULDNT_CONNECT: self = .unreachable
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CACERT_BADFILE: self = .untrusted
        // The first is that of the callbacks, and the second libcurl's own for one line of more than 100 kB. Since 8.6
        // that is CURLE_TOO_LARGE, 100.
        case CURLE_WRITE_ERROR, CURLE_OUT_OF_MEMORY, CURLcode(rawValue: 100): self = .oversizedHead
        default: self = .other(String(cString: curl_easy_strerror(result)))
        }
    }
}
