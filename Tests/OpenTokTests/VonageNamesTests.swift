import Foundation
import Testing
import VonageClientSDKVideo

/// Vonage's names. This file imports no module `OpenTok`: a program may import either.
@Suite("Vonage's Swift names")
struct VonageNamesTests {
    private func code(_ call: (inout OTError?) -> Void) -> OTSessionErrorCode? {
        var error: OTError? = OTError(domain: "left", code: 0)
        call(&error)
        return error.flatMap { OTSessionErrorCode(rawValue: Int32($0.code)) }
    }

    @Test("a session that names its application connects, with and without settings")
    func application() async throws {
        try await Room.run { room in
            let ada = try await room.join("Ada")
            let settings = OTSessionSettings()
            settings.apiURL = room.url
            let session = try #require(
                OTSession(
                    applicationId: Room.apiKey, sessionId: room.sessionId, delegate: nil, settings: settings))
            session.connect(withToken: try room.token("Bob"), error: nil)
            #expect(try await ada.next() == .created("Bob"))
            #expect(OTSession(applicationId: "a", sessionId: "1_x", delegate: nil)?.sessionId == "1_x")
        }
    }

    @Test("settings about media are accepted and have no effect")
    func settings() {
        let settings = OTSessionSettings()
        settings.sessionMigration = true
        settings.singlePeerConnection = true
        let servers = OTSessionICEConfig()
        servers.includeServers = .custom
        servers.transportPolicy = .relay
        servers.filterOutLanCandidates = true
        servers.addICEServer(withURL: "turn:turn.example.org", userName: "ada", credential: "secret", error: nil)
        var error: NSError?
        servers.addICEServer(withURL: "", userName: "ada", credential: "secret", error: &error)
        #expect(error?.code == 1011)
        settings.iceConfig = servers
        #expect(settings.iceConfig?.customIceServers.map { $0["url"] } == ["turn:turn.example.org"])
    }

    @Test("muting fails as not permitted while connected, and as not connected before")
    func mute() async throws {
        let session = try #require(OTSession(applicationId: "a", sessionId: "1_x", delegate: nil))
        #expect(code { session.forceMuteAll(nil, error: &$0) } == .notConnected)
        #expect(code { session.disableForceMute(&$0) } == .notConnected)
        try await Room.run { room in
            let session = try await room.join("Ada").session
            #expect(code { session.forceMuteAll([], error: &$0) } == .sessionUnableToForceMute)
            #expect(code { session.disableForceMute(&$0) } == .sessionUnableToForceMute)
            session.forceMuteAll(nil)
        }
    }

    @Test("an encryption secret of 8 to 256 characters is accepted; there is no issue to report")
    func secret() throws {
        let session = try #require(OTSession(applicationId: "a", sessionId: "1_x", delegate: nil))
        for (secret, expected) in [
            ("1234567", OTSessionErrorCode.sessionInvalidEncryptionSecret), ("12345678", nil),
            (String(repeating: "a", count: 256), nil),
            (String(repeating: "a", count: 257), .sessionInvalidEncryptionSecret),
        ] {
            #expect(code { session.setEncryptionSecret(secret, error: &$0) } == expected)
        }
        var issue: NSString? = "left"
        session.reportIssue(&issue)
        #expect(issue == nil)
    }
}
