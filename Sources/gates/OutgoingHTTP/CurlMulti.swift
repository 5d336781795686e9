import CLibcurl
import SignalingProtocol

/// The owner of libcurl's multi handle: transfers beside each other, and the connections that they leave open.
final class CurlMulti: Sendable {
    /// Idle connections cost descriptors and memory. libcurl closes the oldest above this number.
    private static let idleConnectionCount = 128

    /// Guarded by the thread of the ``HTTPPoster``, except in `wake`: libcurl permits `curl_multi_wakeup` on every thread
    /// while the handle exists.
    private nonisolated(unsafe) let multi: UnsafeMutableRawPointer

    /// - Returns: `nil` without memory or descriptors.
    init?() {
        guard let multi = curl_multi_init() else { return nil }
        self.multi = multi
        signalbox_curl_multi_set_number(multi, CURLMOPT_MAXCONNECTS, Self.idleConnectionCount)
    }

    /// No transfer is left.
    deinit { curl_multi_cleanup(multi) }

    /// - Returns: whether the transfer has begun. It must be removed before it is released.
    func add(_ transfer: Transfer) -> Bool { curl_multi_add_handle(multi, transfer.easy) == CURLM_OK }

    /// Cuts the connection of a transfer that has not ended.
    func remove(_ transfer: Transfer) { curl_multi_remove_handle(multi, transfer.easy) }

    /// Reads, writes and connects without waiting, and returns the transfers that have ended.
    func perform() -> [(Transfer, CURLcode)] {
        var runningCount: Int32 = 0
        curl_multi_perform(multi, &runningCount)
        var ended: [(Transfer, CURLcode)] = []
        var result = CURLE_OK
        while let easy = signalbox_curl_next_ended(multi, &result) {
            guard let transfer = signalbox_curl_private(easy) else { continue }
            ended.append((Unmanaged<Transfer>.fromOpaque(transfer).takeUnretainedValue(), result))
        }
        return ended
    }

    /// Waits for input, `wake`, a timer of libcurl, or the end of the time.
    func wait(_ time: Duration) {
        // A millisecond more, so that the time is over afterwards.
        let milliseconds = Int32(clamping: max(0, time.wholeMilliseconds) + 1)
        curl_multi_poll(multi, nil, 0, milliseconds, nil)
    }

    /// Ends the present `wait`, or the next one. From any thread.
    func wake() { curl_multi_wakeup(multi) }
}
