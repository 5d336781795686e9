import CLibcurl
import SignalingCryptography

/// The owner of libcurl's easy handle, for one transfer.
///
/// libcurl verifies certificates, follows no redirect, keeps no cookie, sends no credentials and decodes no body unless
/// it is told to. It reads `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` of the environment.
final class CurlEasy {
    let pointer: UnsafeMutableRawPointer
    /// libcurl does not copy the list.
    private var headers: UnsafeMutablePointer<curl_slist>?

    /// Whether libcurl can be used. It uses OpenSSL.
    static let isLibraryReady: Bool = {
        OpenSSLCleanup.turnOff()
        return curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
    }()

    /// - Returns: `nil` without memory.
    init?() {
        guard let pointer = curl_easy_init() else { return nil }
        self.pointer = pointer
    }

    deinit {
        curl_easy_cleanup(pointer)
        curl_slist_free_all(headers)
    }

    /// Sets the address, HTTP/1.1, and whom to trust. One transfer at a time gains nothing from HTTP/2.
    func setAddress(_ url: String) -> Bool {
        set(CURLOPT_URL, url)
            && set(CURLOPT_PROTOCOLS_STR, "http,https")
            && set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
            // Signals would end a search for a host's address, and hit other threads.
            && set(CURLOPT_NOSIGNAL, 1)
            && setAuthorities()
    }

    /// The certificate authorities are those of the system, unless the environment names a file, as for the program curl.
    private func setAuthorities() -> Bool {
        guard let file = curl_getenv("SSL_CERT_FILE") else { return true }
        defer { curl_free(file) }
        return set(CURLOPT_CAINFO, UnsafeRawPointer(file))
    }

    /// Sets the header lines, and the body of a POST.
    func setContent(_ lines: [(name: String, value: String)], body: [UInt8]?) -> Bool {
        // libcurl would let the receiver wait for a large body: `Expect: 100-continue`.
        for line in lines.map({ "\($0.name): \($0.value)" }) + ["Expect:"] {
            guard let extended = curl_slist_append(headers, line) else { return false }
            headers = extended
        }
        guard set(CURLOPT_HTTPHEADER, headers.map { UnsafeRawPointer($0) }) else { return false }
        guard let body else { return true }
        // The size first: without it, libcurl copies up to the first zero.
        return set(CURLOPT_POSTFIELDSIZE, body.count)
            && body.withUnsafeBytes { set(CURLOPT_COPYPOSTFIELDS, $0.baseAddress ?? UnsafeRawPointer(pointer)) }
    }

    func set(_ option: CURLoption, _ number: Int) -> Bool {
        signalbox_curl_set_number(pointer, option, number) == CURLE_OK
    }

    func set(_ option: CURLoption, _ text: String) -> Bool {
        text.withCString { set(option, UnsafeRawPointer($0)) }
    }

    func set(_ option: CURLoption, _ pointer: UnsafeRawPointer?) -> Bool {
        signalbox_curl_set_pointer(self.pointer, option, pointer) == CURLE_OK
    }

    func set(_ option: CURLoption, _ callback: @escaping curl_write_callback) -> Bool {
        signalbox_curl_set_callback(pointer, option, callback) == CURLE_OK
    }
}
