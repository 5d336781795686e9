/// The headers with which browsers protect a page and its users. The transport adds them to every response, errors
/// included (docs/SECURITY-MODEL.md, section "Page").
enum SafetyHeaders {
    /// Limits the page to its own scripts and styles and to sockets, so that chat text cannot become code. With trusted
    /// types and no policy, a script that writes text where the browser expects markup or code fails.
    static let pagePolicy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self' ws: wss:; "
        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
        + "trusted-types 'none'"

    /// For responses that are no page: a browser that shows one loads and runs nothing.
    private static let otherPolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

    /// The headers of every response of a server. A page replaces the policy by ``pagePolicy``.
    ///
    /// Browsers apply `Strict-Transport-Security` to all ports of a host name. On a loopback address it would break
    /// other programs of the same machine, so only a server for other machines sends it.
    static func common(host: String, hasTLS: Bool) -> [(name: String, value: String)] {
        var headers = [
            (name: "X-Content-Type-Options", value: "nosniff"), (name: "Referrer-Policy", value: "no-referrer"),
            (name: "Content-Security-Policy", value: otherPolicy),
        ]
        if hasTLS, !ServerConfiguration.isLoopback(host) {
            headers.append((name: "Strict-Transport-Security", value: "max-age=31536000"))
        }
        return headers
    }
}
