import SignalingTransport

/// What a person reads at an address where the server has nothing. Programs get JSON.
enum AbsentPage {
    private static let title = "There is no page at this address"
    private static let advice = "Check the address, or ask for the link again."
    private static let start = "Go to the start page"

    /// Whether the client is a browser that shows a page: programs do not ask for HTML.
    static func isWanted(accept: String?) -> Bool {
        accept?.lowercased().split(separator: ",").contains { range in
            range.prefix { $0 != ";" }.filter { !$0.isWhitespace } == "text/html"
        } ?? false
    }

    /// - Parameter hasStart: whether there is a page at `/`.
    static func response(hasStart: Bool) -> HTTPResponse {
        let link = hasStart ? "<p><a href=\"/\">\(start)</a></p>" : ""
        let html = """
            <!doctype html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark">\
            <meta name="viewport" content="width=device-width, initial-scale=1"><title>\(title)</title>\
            <h1>\(title)</h1><p>\(advice)</p>\(link)</html>
            """
        return HTTPResponse(
            status: HTTPStatus.notFound.rawValue,
            headers: [
                ("Content-Type", "text/html; charset=utf-8"), ("Cache-Control", "no-store"), ("Vary", "Accept"),
                ("Content-Security-Policy", SafetyHeaders.pagePolicy),
            ],
            body: Array(html.utf8))
    }
}
