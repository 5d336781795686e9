/// One HTTP request with the method POST.
package struct HTTPPost: Sendable {
    /// An http or https URL, without blanks and other characters that a URL must encode.
    package let url: String
    /// Names and values without line breaks.
    package let headers: [(name: String, value: String)]
    package let body: [UInt8]
    /// How long the post may take.
    package let timeLimit: Duration

    package init(url: String, headers: [(name: String, value: String)], body: [UInt8], timeLimit: Duration) {
        self.url = url
        self.headers = headers
        self.body = body
        self.timeLimit = timeLimit
    }
}

/// How a post has ended.
package enum PostOutcome: Hashable, Sendable, CustomStringConvertible {
    /// The response has this status, 200 or more. Its body may be incomplete.
    case answered(Int)
    case failed(PostFault)

    package var status: Int? {
        switch self {
        case .answered(let status): status
        case .failed: nil
        }
    }

    package var description: String {
        switch self {
        case .answered(let status): "status \(status)"
        case .failed(let fault): fault.description
        }
    }
}

/// Why a post has no response. The description does not name the URL, which may be a secret.
package enum PostFault: Hashable, Sendable, CustomStringConvertible {
    case cancelled
    case timedOut
    case unknownHost
    case unreachable
    case untrusted
    /// The head of the response has more than ``Transfer/responseByteCount`` bytes.
    case oversizedHead
    /// Another error, in libcurl's words.
    case other(String)

    package var description: String {
        switch self {
        case .cancelled: "the server has given the post up"
        case .timedOut: "no response in time"
        case .unknownHost: "its host name is unknown"
        case .unreachable: "it cannot be reached"
        case .untrusted: "its certificate is not trusted, or TLS failed"
        case .oversizedHead: "the head of its response is too long"
        case .other(let text): "no response: \(text)"
        }
    }
}
