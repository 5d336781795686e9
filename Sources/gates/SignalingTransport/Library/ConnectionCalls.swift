import CLibwebsockets
import SignalingProtocol

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

// The calls to libwebsockets that both kinds of WebSocket make; HTTP connections make some of them.

/// The library's treatment of the bytes that it was given.
enum FrameWriteResult {
    /// The operating system has accepted all.
    case sent
    /// The library has copied the rest, and calls back after sending it.
    case buffered
    /// The connection is lost.
    case failed
}

/// Writes the frame as a text message or a part of one. Nothing may be buffered.
///
/// This is legal outside of the writable callback as long as nothing is buffered, and halves the cost: with libuv each
/// request for that callback makes four system calls.
@inline(__always)
func writeText(
    _ frame: OutboundFrame, as part: MessagePart = .whole, to wsi: OpaquePointer
) -> FrameWriteResult {
    guard lws_write(wsi, frame.payload, frame.byteCount, part.writeProtocol) >= 0 else { return .failed }
    return lws_partial_buffered(wsi) == 0 ? .sent : .buffered
}

/// Sends a close frame and has the library wait for the answer. Call it outside of the library's callbacks, with
/// nothing buffered.
///
/// The usual way, -1 from the writable callback, sends no close frame with libuv: Debian's library is built with
/// `_DEBUG` and then closes twice in a row (`lws_service_fd_tsi`), the second time for good.
func sendClose(code: UInt16, reason: String, on wsi: OpaquePointer) {
    var bytes = CloseFrame.reasonBytes(reason)
    bytes.withUnsafeMutableBufferPointer {
        lws_close_reason(wsi, lws_close_status(rawValue: UInt32(code)), $0.baseAddress, $0.count)
    }
    lws_set_timeout(wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_SYNC)
}

/// The time for the closing handshake with a peer that breaks RFC 6455. After some violations the library's parser is
/// in the middle of a header, and misreads the peer's answer.
let violationCloseTimeout = Duration.milliseconds(500)

/// Gives the library the code 1002 if it closes an intact connection without one: after a control frame or a frame
/// length that is too long.
func explainClose(of wsi: OpaquePointer) {
    guard lws_get_close_length(wsi) == 0 else { return }
    var byte: UInt8 = 0
    let count = signalbox_peek(lws_get_socket_fd(wsi), &byte, 1)
    let isIntact = count > 0 || count < 0 && errno == EAGAIN
    if isIntact { lws_close_reason(wsi, LWS_CLOSE_STATUS_PROTOCOL_ERR, nil, 0) }
}

/// Ends a connection at once, whatever state it is in. Call it outside of the library's callbacks.
///
/// The shutdown comes first: with buffered bytes the library would only wait until they are sent. On a socket that is
/// shut down this wait ends at once.
func cut(_ wsi: OpaquePointer) {
    signalbox_shutdown(lws_get_socket_fd(wsi))
    lws_set_timeout(wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_SYNC)
}

/// Reads input of an HTTP connection in place of the library, and discards it.
///
/// - Returns: how many bytes; 0 if the client has closed its side or the connection is lost, -1 if there is no input.
func readAndDiscard(_ wsi: OpaquePointer) -> Int {
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { scratch -> Int in
        guard let tls = lws_get_ssl(wsi) else {
            return signalbox_receive(lws_get_socket_fd(wsi), scratch.baseAddress, scratch.count)
        }
        // OpenSSL permits reading between two attempts at one write.
        ERR_clear_error()
        let count = SSL_read(tls, scratch.baseAddress, Int32(scratch.count))
        guard count <= 0 else { return Int(count) }
        switch SSL_get_error(tls, count) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return -1
        default: return 0
        }
    }
}

/// Writes bytes of an HTTP connection in place of the library, which must have nothing to write.
///
/// - Returns: how many the socket accepts at present; -1 if the connection is lost.
func write(_ bytes: UnsafeRawBufferPointer, inPlaceOf wsi: OpaquePointer) -> Int {
    guard let tls = lws_get_ssl(wsi) else {
        let count = signalbox_send(lws_get_socket_fd(wsi), bytes.baseAddress, bytes.count)
        return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) ? 0 : count
    }
    // One record at a time. A write is repeated with the same bytes, which may have moved meanwhile.
    SSL_ctrl(tls, SSL_CTRL_MODE, Int(SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER), nil)
    ERR_clear_error()
    let count = SSL_write(tls, bytes.baseAddress, Int32(bytes.count))
    if count > 0 { return Int(count) }
    return SSL_get_error(tls, count) == SSL_ERROR_WANT_WRITE ? 0 : -1
}

/// Ends what this side sends, and nothing else.
func shutDownWriting(_ wsi: OpaquePointer) {
    if let tls = lws_get_ssl(wsi) {
        // TLS marks the end of the data, too: a client treats a stream without the mark as truncated.
        ERR_clear_error()
        SSL_shutdown(tls)
    }
    signalbox_shutdown_writing(lws_get_socket_fd(wsi))
}

extension MessageAssembler.Piece {
    /// The piece that a receive callback delivers.
    init(_ bytes: UnsafeRawBufferPointer, of wsi: OpaquePointer) {
        self.init(
            bytes: bytes, isFirst: lws_is_first_fragment(wsi) != 0, isFinal: lws_is_final_fragment(wsi) != 0,
            isBinary: lws_frame_is_binary(wsi) != 0,
            remainingInFrame: Int(clamping: lws_remaining_packet_payload(wsi)))
    }
}
