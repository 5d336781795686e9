import SignalingProtocol
import SignalingTransport
import Testing

@testable import SignalingServer

@Suite("REST-3: routes")
struct RouteTests {
    @Test("an id in a path may have percent escapes, which are decoded once; a slash in it is no separator")
    func escapes() {
        let path = "/v2/project/%31%30%30/session/1_MX%7e%2525/connection/a%2Fb"
        #expect(Route(path: path) == .project(APIKey("100"), .connection(SessionID("1_MX~%25"), ConnectionID("a/b"))))
        #expect(
            Route(path: "/admin/v1/sessions/%61/connections/%62")
                == .admin(.connection(SessionID("a"), ConnectionID("b"))))
        #expect(Route(path: "/admin/v1/sessions/%61/messages") == .admin(.messages(SessionID("a"))))
        #expect(Route(path: "/room/l%6Fbby") == .room("lobby"))
    }

    @Test(
        "REST-3: a path that is spelled in another way, or whose id is no name, has no route",
        arguments: [
            "//metrics", "/metrics/", "/%6detrics", "/./metrics", "/x/../metrics", "metrics", "", "/", "/room/",
            "/room/%", "/room/%2", "/room/%zz", "/room/%ff", "/room/..", "/room/%2e%2e", "/room/.", "/session//create",
            "/admin/v1/sessions/", "/admin/v1/sessions//events", "/v2/project//session/a/signal",
            "/v2/project/100/session/%2e/signal", "/v2/project/100/session/a/connection//", "/v2/project/100/archive//",
            "/v2/project/100/session/a/",
            "///v2/project/100/session/a/signal", "/session/create/", "//session", "//room/lobby", "//admin/v1/stats",
        ])
    func spellings(path: String) {
        #expect(Route(path: path) == .file(path))
    }

    @Test("a backend's path may begin with two slashes and end with one, as OpenTok's SDKs write it")
    func slashes() {
        let list = Route.project(APIKey("100"), .connections(SessionID("a")))
        #expect(Route(path: "/v2/project/100/session/a/connection/") == list)
        #expect(Route(path: "//v2/project/100/session/a/connection") == list)
        #expect(Route(path: "//session/create") == .createSession)
    }

    @Test("REST-1: the older names of OpenTok's paths mean the same")
    func olderNames() {
        #expect(Route(path: "/hl/session/create") == .createSession)
        #expect(Route(path: "//hl/session/create") == .createSession)
        #expect(Route(path: "/v2/partner/100/archive") == .project(APIKey("100"), .media))
        #expect(Route(path: "//v2/partner/100/archive/") == .project(APIKey("100"), .media))
        #expect(SessionCreation.wantsXML(path: "/hl/session/create", accept: nil, userAgent: nil))
        #expect(!SessionCreation.wantsXML(path: "/hl/session/create", accept: "application/json", userAgent: nil))
        #expect(!SessionCreation.wantsXML(path: "/session/create", accept: nil, userAgent: nil))
        for path in ["/hl/session", "/hl/create/session", "/hl/session/create/", "/v2/partners/100/archive"] {
            #expect(Route(path: path) == .file(path))
        }
    }

    @Test("HIS-10: the history has three paths, each with its methods, and a seq in a path is digits alone")
    func history() {
        let session = SessionID("a")
        let cases: [(path: String, route: ProjectRoute, methods: [HTTPMethod])] = [
            ("message", .messages(session), [.get, .head, .delete]),
            ("message/812", .message(session, Seq(812)), [.delete]),
            ("user/u%2F17/message", .userMessages(session, UserID("u/17")), [.delete]),
        ]
        for (path, route, methods) in cases {
            #expect(Route(path: "/v2/project/100/session/a/\(path)") == .project(APIKey("100"), route))
            #expect(route.methods == methods, "\(path)")
        }
        for path in ["message/x", "message/-1", "message/+1", "message/1.0", "message/9007199254740993", "message/1/2"]
        {
            let path = "/v2/project/100/session/a/\(path)"
            #expect(Route(path: path) == .file(path))
        }
    }
}
