import CLibcurl

/// The version of libcurl that the process uses.
package enum LibcurlVersion {
    /// For example `7.88.1`.
    package static var text: String { String(cString: curl_version_info(CURLVERSION_FIRST).pointee.version) }
}
