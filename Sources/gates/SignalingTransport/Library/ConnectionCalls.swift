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

extension MessageAssembler.Piece {
    /// The piece that a receive callback delivers.
    init(_ bytes: UnsafeRawBufferPointer, of wsi: OpaquePointer) {
        self.init(
            bytes: bytes, isFirst: lws_is_first_fragment(wsi) != 0, isFinal: lws_is_final_fragment(wsi) != 0,
            isBinary: lws_frame_is_binary(wsi) != 0,
            remainingInFrame: Int(clamping: lws_remaining_packet_payload(wsi)))
    }
}
