import CLibcurl
import EventLoop
import SignalingProtocol

/// One post, and the owner of libcurl's easy handle for it. Used on the thread of its ``HTTPPoster``.
///
/// libcurl verifies certificates, follows no redirect, keeps no cookie, sends no credentials and decodes no body unless
/// it is told to. It reads `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` of the environment.
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
    let easy: UnsafeMutableRawPointer
    /// libcurl does not copy the list.
    private var headers: UnsafeMutablePointer<curl_slist>?

    /// - Returns: `nil` without memory.
    init?(_ post: HTTPPost, id: HTTPPoster.PostID, now: MonotonicInstant, completion: @escaping HTTPPoster.Completion) {
        guard let easy = curl_easy_init() else { return nil }
        self.easy = easy
        self.id = id
        self.completion = completion
        deadline = now.advanced(by: post.timeLimit)
        guard setAddress(post), setContent(post), setCallbacks() else { return nil }
    }

    deinit {
        curl_easy_cleanup(easy)
        curl_slist_free_all(headers)
    }

    /// - Parameter result: of libcurl.
    func outcome(_ result: CURLcode) -> PostOutcome { status.map { .answered($0) } ?? .failed(PostFault(result)) }

    /// The same, for a post that libcurl has not ended.
    func outcome(_ fault: PostFault) -> PostOutcome { status.map { .answered($0) } ?? .failed(fault) }

    // MARK: - Options

    private func setAddress(_ post: HTTPPost) -> Bool {
        set(CURLOPT_URL, post.url)
            && set(CURLOPT_PROTOCOLS_STR, "http,https")
            // One post at a time gains nothing from HTTP/2.
            && set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
            // Half of the time, so that the log tells a receiver that cannot be reached from a slow one.
            && set(CURLOPT_CONNECTTIMEOUT_MS, Int(post.timeLimit.wholeMilliseconds / 2))
            // Signals would end a search for a host's address, and hit other threads.
            && set(CURLOPT_NOSIGNAL, 1)
            // Without it, the end of a post waits for a search that hangs, and the posts to other receivers with it.
            && set(CURLOPT_QUICK_EXIT, 1) && setAuthorities()
    }

    /// The certificate authorities are those of the system, unless the environment names a file, as for the program curl.
    private func setAuthorities() -> Bool {
        guard let file = curl_getenv("SSL_CERT_FILE") else { return true }
        defer { curl_free(file) }
        return set(CURLOPT_CAINFO, UnsafeRawPointer(file))
    }

    private func setContent(_ post: HTTPPost) -> Bool {
        // libcurl would let the receiver wait for a large body: `Expect: 100-continue`.
        for line in post.headers.map({ "\($0.name): \($0.value)" }) + ["Expect:"] {
            guard let extended = curl_slist_append(headers, line) else { return false }
            headers = extended
        }
        // The size first: without it, libcurl copies up to the first zero.
        return set(CURLOPT_POSTFIELDSIZE, post.body.count)
            && post.body.withUnsafeBytes { set(CURLOPT_COPYPOSTFIELDS, $0.baseAddress ?? UnsafeRawPointer(easy)) }
            && set(CURLOPT_HTTPHEADER, headers.map { UnsafeRawPointer($0) })
    }

    /// libcurl calls them with this transfer, which outlives its easy handle.
    private func setCallbacks() -> Bool {
        let this = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
        return set(CURLOPT_PRIVATE, this) && set(CURLOPT_HEADERDATA, this) && set(CURLOPT_WRITEDATA, this)
            && signalbox_curl_set_callback(easy, CURLOPT_HEADERFUNCTION, receiveHeadLine) == CURLE_OK
            && signalbox_curl_set_callback(easy, CURLOPT_WRITEFUNCTION, receiveBody) == CURLE_OK
            // The response of a proxy to CONNECT is not the receiver's.
            && set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    }

    private func set(_ option: CURLoption, _ number: Int) -> Bool {
        signalbox_curl_set_number(easy, option, number) == CURLE_OK
    }

    private func set(_ option: CURLoption, _ text: String) -> Bool {
        text.withCString { set(option, UnsafeRawPointer($0)) }
    }

    private func set(_ option: CURLoption, _ pointer: UnsafeRawPointer?) -> Bool {
        signalbox_curl_set_pointer(easy, option, pointer) == CURLE_OK
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
