import CLibcurl
import EventLoop
import SignalingProtocol

/// A request of a tool, which asks a server now and then, on a thread of its own.
package struct HTTPRequest: Sendable {
    package struct Response: Sendable {
        package var status: Int
        package var body: [UInt8]
    }

    /// Why there is no response.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// As many redirects are followed.
    private static let redirectCount = 5
    /// A longer body is a failure.
    static let bodyByteCount = 256 << 20

    package var method = "GET"
    package var url: String
    package var headers: [(name: String, value: String)] = []
    package var body: [UInt8]?
    /// How long the connection may take, and then each pause in the exchange.
    package var deadline: Duration = .seconds(10)

    package init(url: String) { self.url = url }

    package func send() async throws(Failure) -> Response {
        let result: Result<Response, Failure> = await withCheckedContinuation { continuation in
            do {
                try EventLoop.startThread(name: "request") { started in
                    started()
                    continuation.resume(returning: Result { () throws(Failure) in try perform() })
                }
            } catch {
                continuation.resume(returning: .failure(Failure(description: "\(error)")))
            }
        }
        return try result.get()
    }

    /// The body as it arrives.
    fileprivate final class Inbox {
        var bytes: [UInt8] = []
    }

    private func perform() throws(Failure) -> Response {
        let inbox = Inbox()
        guard CurlEasy.isLibraryReady, let easy = CurlEasy() else { throw Failure(description: "no memory") }
        let seconds = max(1, Int(deadline.components.seconds))
        let isReady =
            easy.setAddress(url) && easy.setContent(headers, body: body) && easy.set(CURLOPT_CUSTOMREQUEST, method)
            && easy.set(CURLOPT_CONNECTTIMEOUT_MS, Int(deadline.wholeMilliseconds))
            && easy.set(CURLOPT_LOW_SPEED_LIMIT, 1) && easy.set(CURLOPT_LOW_SPEED_TIME, seconds)
            && easy.set(CURLOPT_FOLLOWLOCATION, 1) && easy.set(CURLOPT_MAXREDIRS, Self.redirectCount)
            && easy.set(CURLOPT_WRITEDATA, UnsafeRawPointer(Unmanaged.passUnretained(inbox).toOpaque()))
            && easy.set(CURLOPT_WRITEFUNCTION, receive)
        guard isReady else { throw Failure(description: "the URL \(url) cannot be used") }
        let outcome = withExtendedLifetime(inbox) { curl_easy_perform(easy.pointer) }
        guard outcome == CURLE_OK else { throw Failure(description: String(cString: curl_easy_strerror(outcome))) }
        return Response(status: signalbox_curl_status(easy.pointer), body: inbox.bytes)
    }
}

private func receive(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ inbox: UnsafeMutableRawPointer?
) -> Int {
    guard let bytes, let inbox else { return 0 }
    let box = Unmanaged<HTTPRequest.Inbox>.fromOpaque(inbox).takeUnretainedValue()
    let byteCount = size * count
    guard box.bytes.count + byteCount <= HTTPRequest.bodyByteCount else { return 0 }
    box.bytes.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: byteCount))
    return byteCount
}
