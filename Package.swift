// swift-tools-version: 6.2
import PackageDescription

// docs/ARCHITECTURE.md shows which target may depend on which, and scripts/check layers checks it. Here, targets stand
// in the same order, from the bottom.

// MARK: Forms

// The package has two forms: docs/decisions/018-client-without-c.md. On Linux it has everything, elsewhere only the
// client without C libraries.
#if os(Linux)
    let hasServer = Context.environment["SIGNALBOX_CLIENT"] != "foundation"
#else
    let hasServer = Context.environment["SIGNALBOX_CLIENT"] == "libwebsockets"
#endif
let hasJSONC = hasServer && Context.environment["SIGNALBOX_JSON"] != "swift"
let clientSocket: Target.Dependency = hasServer ? "SignalingTransport" : "SignalingFoundation"
let jsonC: [Target.Dependency] = hasJSONC ? ["JSONC"] : []

// MARK: Client

let clientProducts: [Product] = [
    .library(name: "SignalingClient", targets: ["SignalingClient"]),
    .library(name: "SignalingProtocol", targets: ["SignalingProtocol"]),
    .library(name: "TextChat", targets: ["TextChat", "TextChatFoundation"]),
    .library(name: "TextChatTesting", targets: ["TextChatTesting"]),
    .library(name: "TextChatUI", targets: ["TextChatUI"]),
    .library(name: "OpenTok", targets: ["OpenTok"]),
    .library(name: "VonageClientSDKVideo", targets: ["VonageClientSDKVideo", "OpenTok"]),
]
let clientPackages: [Package.Dependency] = [
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
]
let clientModules: [Target] = [
    .module("letters/Locking", []),
    .module("letters/JSONText", []),
    .module("letters/SignalingProtocol", ["JSONText"]),
    .module("rules/SignalingCore", ["SignalingProtocol", .deque, .heap]),
    .module("rules/TextChat", ["SignalingProtocol"]),
    .module("clients/TextChatRunning", ["SignalingProtocol", "TextChat"]),
    .module("clients/TextChatFoundation", ["TextChat", "TextChatRunning"]),
    .module("clients/TextChatTesting", ["Locking", "TextChat"]),
    .module("clients/SignalingFoundation", ["SignalingProtocol"]),
    .module("clients/SignalingClient", [clientSocket, "Locking", "SignalingProtocol", .deque, .log]),
    .module("clients/OpenTok", ["Locking", "SignalingClient", "TextChatFoundation", "TextChatUI", .log]),
    .module("clients/VonageClientSDKVideo", ["OpenTok"]),
    .module("clients/TextChatUI", ["SignalingClient", "TextChatFoundation"], resources: [.process("Resources")]),
]
let examples: [Target] = [
    .program("hello-signalbox", ["SignalingClient"], path: "Examples/HelloSignalbox"),
    .program("first-chat", ["SignalingClient", "TextChatFoundation"], path: "Examples/FirstChat"),
    .program("small-chat", ["SignalingClient", "TextChatFoundation", "TextChatTesting"], path: "Examples/SmallChat"),
    // Code written for OpenTok is in this language mode.
    .program("opentok-text-chat", ["OpenTok"], path: "Examples/TextChatSample", settings: [.swiftLanguageMode(.v5)]),
]
// A test may import what its dependencies depend on.
let clientTests: [Target] = [
    .module("TestSupport", ["Locking", "SignalingCore", .log], path: "Tests/TestSupport"),
    .tests("JSONTextTests", jsonC + ["JSONText"]),
    .tests("SignalingProtocolTests", ["SignalingProtocol"]),
    .tests("TextChatTests", ["TextChatFoundation", "TextChatTesting"]),
    .tests("SignalingFoundationTests", ["SignalingFoundation"]),
    .tests("SignalingClientTests", ["SignalingClient"]),
    .tests("TextChatUITests", ["JSONText", "TextChatTesting", "TextChatUI"]),
]

// MARK: Server

let serverProducts: [Product] = [
    .executable(name: "signalbox", targets: ["signalbox"]),
    .executable(name: "signalbox-lab", targets: ["signalbox-lab"]),
    .library(name: "SignalingTokens", targets: ["SignalingTokens"]),
    .library(name: "SignalingServer", targets: ["SignalingServer"]),
]
let serverPackages: [Package.Dependency] = [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    // Without its reader of JSON, which would bring all of Foundation into the program.
    .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
]
let cLibraries: [Target] = [
    .clib("c/CLibcurl", config: "libcurl", apt: "libcurl4-openssl-dev", brew: "curl"),
    .clib("c/COpenSSL", config: "openssl", apt: "libssl-dev", brew: "openssl@3"),
    .clib("c/CLibuv", config: "libuv", apt: "libuv1-dev", brew: "libuv"),
    .clib("c/CLibwebsockets", config: "libwebsockets", apt: "libwebsockets-dev", brew: "libwebsockets"),
    .clib("c/CSQLite", config: "sqlite3", apt: "libsqlite3-dev", brew: "sqlite"),
    // Without pkgConfig: Debian's file contains a flag that SwiftPM refuses with a warning.
    .clib("c/CHiredis", apt: "libhiredis-dev", brew: "hiredis"),
]
let jsonCModules: [Target] = [
    .clib("c/CJSONC", config: "json-c", apt: "libjson-c-dev", brew: "json-c"),
    .module("letters/JSONC", ["CJSONC", "JSONText"]),
]
let serverModules: [Target] = [
    .module("gates/SignalingCryptography", ["COpenSSL"]),
    .module("gates/SignalingTokens", ["SignalingCryptography", "SignalingProtocol"]),
    .module("rules/SignalingRedisCore", ["SignalingCore", .deque], resources: [.embedInCode("Wire/signalbox.lua")]),
    .module("lab/SignalingVerification", ["JSONText", "SignalingProtocol"]),
    .module("gates/EventLoop", ["SignalingProtocol", "CLibuv"]),
    .module("gates/SignalingTransport", ["SignalingCryptography", "EventLoop", "CLibwebsockets", .deque, .log]),
    .module("keepers/SignalingSQLite", ["EventLoop", "SignalingCore", "CSQLite", .deque, .log]),
    .module(
        "keepers/SignalingRedis",
        ["SignalingCryptography", "SignalingRedisCore", "EventLoop", "CHiredis", .deque, .log]),
    .module("gates/OutgoingHTTP", ["EventLoop", "SignalingCryptography", "SignalingProtocol", "CLibcurl"]),
    .module(
        "server/SignalingServer",
        jsonC + [
            "EventLoop", "OutgoingHTTP", "SignalingCore", "SignalingRedis", "SignalingSQLite", "SignalingTokens",
            "SignalingTransport", .configuration, .lifecycle, .log, .metrics,
        ],
        // The admin page is a part of the program, so that it also works without the folder of the test page.
        resources: ["index.html", "admin.js", "model.mjs", "admin.css"].map { .embedInCode("Admin/Page/" + $0) }),
    .module("lab/VerificationTools", ["SignalingClient", "SignalingTokens", "SignalingVerification"]),
    .module("lab/LoadTools", ["SignalingClient", "SignalingTokens"]),
    .module("programs/CommandSupport", ["EventLoop", "SignalingServer", .argumentParser, .signals]),
    // The test page and the browser library: a part of the program, so that it works without their folder.
    .module("c/CEmbeddedFiles", []),
    .program(
        "programs/signalbox",
        ["CommandSupport", "CEmbeddedFiles", "EventLoop", "OutgoingHTTP", "SignalingClient", "TextChatRunning"]),
    .program("programs/signalbox-lab", ["CommandSupport", "LoadTools", "VerificationTools"]),
]
let serverTests: [Target] = [
    .clib("CLua", path: "Tests/CLua", apt: "liblua5.1-0-dev", brew: "lua@5.1"),
    .module("CoreTestSupport", ["SignalingCore", "TestSupport"], path: "Tests/CoreTestSupport"),
    .module("RedisTestSupport", ["SignalingRedis", "VerificationTools"], path: "Tests/RedisTestSupport"),
    .module("RedisSimulation", ["CLua", "SignalingRedis", "TestSupport", .heap], path: "Tests/RedisSimulation"),
    .module("FuzzTargets", ["SignalingServer"], path: "Tests/Fuzz/Targets"),
    .program(
        "signalbox-tools", jsonC + ["SignalingSQLite", "TextChatFoundation", "RedisTestSupport", "TestSupport"],
        path: "Tests/Tools"),
    .tests("FuzzTests", ["FuzzTargets"]),
    .tests("SignalingCryptographyTests", ["SignalingCryptography", "SignalingProtocol", "COpenSSL"]),
    .tests("SignalingTokensTests", ["SignalingTokens"]),
    .tests("SignalingCoreTests", ["CoreTestSupport"]),
    .tests("SignalingRedisCoreTests", ["SignalingRedisCore", .deque]),
    .tests("SignalingTransportTests", ["SignalingTransport"]),
    .tests("SignalingSQLiteTests", ["CoreTestSupport", "SignalingSQLite", "VerificationTools", "signalbox-tools"]),
    .tests("SignalingRedisTests", ["CoreTestSupport", "RedisSimulation", "RedisTestSupport", "CHiredis"]),
    .tests("OutgoingHTTPTests", ["OutgoingHTTP"]),
    .tests("SignalingServerTests", ["SignalingServer", .metricsTestKit]),
    .tests("LoadToolsTests", ["LoadTools"]),
    .tests("SimulationTests", ["SignalingServer", "SignalingClient", "SignalingVerification", "RedisSimulation"]),
    .tests("LoopbackTests", ["SignalingServer", "VerificationTools"]),
    .tests("OpenTokTests", ["VonageClientSDKVideo", "SignalingServer", "VerificationTools", "opentok-text-chat"]),
]

// MARK: Package

let package = Package(
    name: "signalbox",
    defaultLocalization: "en",
    platforms: [.macOS(hasServer ? .v15 : .v14), .iOS(.v17), .tvOS(.v17), .watchOS(.v10), .visionOS(.v1)],
    products: clientProducts + (hasServer ? serverProducts : []),
    dependencies: clientPackages + (hasServer ? serverPackages : []),
    targets: clientModules + examples + clientTests,
    swiftLanguageModes: [.v6]
)
if hasServer { package.targets += cLibraries + serverModules + serverTests }
if hasJSONC { package.targets += jsonCModules }

for target in package.targets where target.type != .system {
    // Swift Evolution 0335, 0444 and 0461.
    var settings = ["ExistentialAny", "MemberImportVisibility", "NonisolatedNonsendingByDefault"]
        .map { SwiftSetting.enableUpcomingFeature($0) }
    if hasServer { settings.append(.define("SIGNALBOX_LIBWEBSOCKETS")) }
    if hasJSONC { settings.append(.define("SIGNALBOX_JSONC")) }
    // Only scripts/test sets this. A package that depends on this one is built with warnings suppressed, and the
    // compiler refuses both options together.
    if Context.environment["SIGNALBOX_WARNINGS_AS_ERRORS"] != nil { settings.append(.treatAllWarnings(as: .error)) }
    // In the build of scripts/test, the modules that its randomized tests use most are optimized, and keep their
    // assertions.
    let optimized: Set = ["JSONText", "SignalingCore", "SignalingProtocol", "SignalingRedisCore", "TextChat"]
    if Context.environment["SIGNALBOX_OPTIMIZED"] != nil, optimized.contains(target.name) {
        settings.append(.unsafeFlags(["-O", "-assert-config", "Debug"]))
    }
    target.swiftSettings = (target.swiftSettings ?? []) + settings
}

// MARK: Short forms

extension Target.Dependency {
    static var argumentParser: Self { .product(name: "ArgumentParser", package: "swift-argument-parser") }
    static var configuration: Self { .product(name: "Configuration", package: "swift-configuration") }
    static var deque: Self { .product(name: "DequeModule", package: "swift-collections") }
    static var heap: Self { .product(name: "HeapModule", package: "swift-collections") }
    static var lifecycle: Self { .product(name: "ServiceLifecycle", package: "swift-service-lifecycle") }
    static var log: Self { .product(name: "Logging", package: "swift-log") }
    static var metrics: Self { .product(name: "Metrics", package: "swift-metrics") }
    static var metricsTestKit: Self { .product(name: "MetricsTestKit", package: "swift-metrics") }
    static var signals: Self { .product(name: "UnixSignals", package: "swift-service-lifecycle") }
}

extension Target {
    typealias Uses = [Dependency]
    /// A target is where its shelf and its name say, or at a path.
    private static func name(_ place: String) -> String { String(place.split(separator: "/").last ?? "") }
    static func clib(_ place: String, path: String? = nil, config: String? = nil, apt: String, brew: String) -> Target {
        .systemLibrary(
            name: name(place), path: path ?? "Sources/" + place, pkgConfig: config,
            providers: [.apt([apt]), .brew([brew])])
    }
    static func module(_ place: String, _ uses: Uses, path: String? = nil, resources: [Resource] = []) -> Target {
        .target(name: name(place), dependencies: uses, path: path ?? "Sources/" + place, resources: resources)
    }
    static func program(_ place: String, _ uses: Uses, path: String? = nil, settings: [SwiftSetting] = []) -> Target {
        .executableTarget(
            name: name(place), dependencies: uses, path: path ?? "Sources/" + place, swiftSettings: settings)
    }
    static func tests(_ name: String, _ uses: Uses) -> Target {
        .testTarget(name: name, dependencies: uses + ["TestSupport"])
    }
}
