import SignalingProtocol
import Testing

@testable import SignalingServer

@Suite("What a service manager learns: sd_notify(3)")
struct ServiceNotifierTests {
    private static let processID: Int32 = 4711

    @Test("start, reload and stop, each once and with a status for people")
    func lifeCycle() {
        var notices = ServiceNotices()
        #expect(notices.ready("listening") == "READY=1\nSTATUS=listening\n")
        let now = MonotonicInstant(nanoseconds: 1_234_567_891)
        #expect(
            notices.reloadBegan(now: now)
                == "RELOADING=1\nMONOTONIC_USEC=1234567\nSTATUS=reading the settings again\n")
        #expect(notices.reloadEnded("reloaded") == "READY=1\nSTATUS=reloaded\n")
        #expect(notices.stopping("ending") == "STOPPING=1\nSTATUS=ending\n")
        #expect(notices.stopping("ending") == nil)
    }

    @Test("a reload before the server is ready does not tell that it is")
    func earlyReload() {
        var notices = ServiceNotices()
        #expect(notices.reloadBegan(now: MonotonicInstant(nanoseconds: 1)) == nil)
        #expect(notices.reloadEnded("refused") == nil)
        #expect(notices.ready("listening") != nil)
    }

    @Test("a reload that ends while the server stops does not tell that it is ready")
    func lateReload() {
        var notices = ServiceNotices()
        _ = notices.ready("listening")
        _ = notices.reloadBegan(now: MonotonicInstant(nanoseconds: 1))
        #expect(notices.stopping("ending") != nil)
        #expect(notices.reloadEnded("reloaded") == nil)
        #expect(notices.reloadBegan(now: MonotonicInstant(nanoseconds: 2)) == nil)
        #expect(notices.ready("listening") == nil)
    }

    @Test("a status cannot forge another assignment")
    func oneLine() {
        var notices = ServiceNotices()
        #expect(notices.ready("a\nWATCHDOG=trigger\r\nb") == "READY=1\nSTATUS=a WATCHDOG=trigger b\n")
    }

    @Test(
        "the watchdog is for the process that it names",
        arguments: [
            ([:], nil),
            (["WATCHDOG_USEC": "30000000"], .seconds(30)),
            (["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "4711"], .seconds(30)),
            (["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "4710"], nil),
            (["WATCHDOG_USEC": "soon", "WATCHDOG_PID": "4710"], nil),
            (["WATCHDOG_PID": "4711"], nil),
        ] as [([String: String], Duration?)])
    func watchdog(_ environment: [String: String], _ time: Duration?) throws {
        #expect(try ServiceNotifier.watchdogTime(in: environment, processID: Self.processID) == time)
    }

    @Test(
        "a wrong variable is an error that names it and its value",
        arguments: [
            (["NOTIFY_SOCKET": "run/notify"], "NOTIFY_SOCKET is \"run/notify\"."),
            (["NOTIFY_SOCKET": "vsock:2:9"], "NOTIFY_SOCKET is \"vsock:2:9\"."),
            (["NOTIFY_SOCKET": "@"], "NOTIFY_SOCKET is \"@\"."),
            (["NOTIFY_SOCKET": "/" + String(repeating: "a", count: 107)], "NOTIFY_SOCKET is \"/aaa"),
            (["NOTIFY_SOCKET": "/n", "WATCHDOG_USEC": "0"], "WATCHDOG_USEC is \"0\"."),
            (["NOTIFY_SOCKET": "/n", "WATCHDOG_USEC": "9999999999999999999"], "WATCHDOG_USEC is \"99999999"),
            (["NOTIFY_SOCKET": "/n", "WATCHDOG_USEC": "1", "WATCHDOG_PID": "me"], "WATCHDOG_PID is \"me\"."),
        ])
    func wrong(_ environment: [String: String], _ message: String) throws {
        let error = #expect(throws: ConfigurationError.self) {
            _ = try ServiceNotifier(environment: environment, processID: Self.processID)
        }
        #expect(error?.description.hasPrefix(message) == true, "\(error?.description ?? "")")
    }

    @Test("the longest names fit", arguments: [("/", 106), ("@", 107)])
    func longest(_ first: String, _ count: Int) {
        let name = first + String(repeating: "a", count: count)
        #expect(NotifySocket(name: name) != nil)
        #expect(NotifySocket(name: name + "a") == nil)
    }

    @Test("without a service manager there is no notifier")
    func none() throws {
        #expect(try ServiceNotifier(environment: ["WATCHDOG_USEC": "1"], processID: Self.processID) == nil)
        #expect(try ServiceNotifier(environment: ["NOTIFY_SOCKET": ""], processID: Self.processID) == nil)
    }
}
