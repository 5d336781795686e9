// swift-tools-version: 6.2
import PackageDescription

// Swift Evolution 0335, 0444 and 0461.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// docs/ARCHITECTURE.md shows which target may depend on which; scripts/check-layers checks it.
let package = Package(
    name: "signalbox",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "signalbox", targets: ["signalbox"]),
        .library(name: "SignalingClient", targets: ["SignalingClient"]),
        .library(name: "SignalingProtocol", targets: ["SignalingProtocol"]),
        .library(name: "SignalingTokens", targets: ["SignalingTokens"]),
        .library(name: "SignalingServer", targets: ["SignalingServer"]),
        .library(name: "TextChat", targets: ["TextChat", "TextChatFoundation"]),
        .library(name: "TextChatTesting", targets: ["TextChatTesting"]),
        .library(name: "OpenTok", targets: ["OpenTok"]),
        .library(name: "VonageClientSDKVideo", targets: ["VonageClientSDKVideo", "OpenTok"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CJSONC", pkgConfig: "json-c", providers: [.apt(["libjson-c-dev"]), .brew(["json-c"])]),
        .systemLibrary(
            name: "CLibwebsockets", pkgConfig: "libwebsockets",
            providers: [.apt(["libwebsockets-dev", "libuv1-dev"]), .brew(["libwebsockets", "libuv"])]),
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
        // Without pkgConfig: Debian's file contains a flag that SwiftPM refuses with a warning.
        .systemLibrary(name: "CHiredis", providers: [.apt(["libhiredis-dev", "libuv1-dev"])]),

        .target(name: "JSONText", dependencies: ["CJSONC"], swiftSettings: settings),
        .target(name: "SignalingProtocol", dependencies: ["JSONText"], swiftSettings: settings),
        .target(
            name: "SignalingTokens",
            dependencies: [
                "SignalingProtocol",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "JWTKit", package: "jwt-kit"),
            ],
            swiftSettings: settings),
        .target(
            name: "SignalingCore",
            dependencies: [
                "SignalingProtocol",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
            ],
            swiftSettings: settings),
        .target(
            name: "SignalingSQLite",
            dependencies: [
                "SignalingCore", "SignalingProtocol", "CSQLite",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .target(
            name: "SignalingRedisCore",
            dependencies: [
                "SignalingCore", "SignalingProtocol", .product(name: "DequeModule", package: "swift-collections"),
            ],
            resources: [.embedInCode("Wire/signalbox.lua")],
            swiftSettings: settings),
        .target(
            name: "SignalingRedis",
            dependencies: [
                "SignalingCore", "SignalingProtocol", "SignalingRedisCore", "CHiredis",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .target(
            name: "SignalingVerification", dependencies: ["JSONText", "SignalingProtocol"], swiftSettings: settings),
        .target(name: "TextChat", dependencies: ["SignalingProtocol"], swiftSettings: settings),
        .target(name: "TextChatFoundation", dependencies: ["TextChat"], swiftSettings: settings),
        .target(name: "TextChatTesting", dependencies: ["TextChat"], swiftSettings: settings),
        .target(
            name: "SignalingTransport",
            dependencies: [
                "SignalingProtocol", "CLibwebsockets", .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .target(
            name: "SignalingServer",
            dependencies: [
                "SignalingCore", "SignalingRedis", "SignalingSQLite", "SignalingTokens", "SignalingTransport",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            // The admin page is a part of the program, so that it also works without the folder of the test page.
            resources: ["index.html", "admin.js", "model.mjs", "admin.css"].map { .embedInCode("Admin/Page/" + $0) },
            swiftSettings: settings),
        .target(
            name: "SignalingClient",
            dependencies: [
                "SignalingProtocol", "SignalingTransport",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .target(
            name: "OpenTok",
            dependencies: [
                "SignalingClient", "TextChatFoundation", .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .target(name: "VonageClientSDKVideo", dependencies: ["OpenTok"], swiftSettings: settings),
        .target(
            name: "VerificationTools", dependencies: ["SignalingClient", "SignalingTokens", "SignalingVerification"],
            swiftSettings: settings),
        .target(name: "LoadTools", dependencies: ["SignalingClient", "SignalingTokens"], swiftSettings: settings),
        .executableTarget(
            name: "signalbox",
            dependencies: [
                "SignalingServer", "SignalingClient", "SignalingTokens", "TextChatFoundation", "VerificationTools",
                "LoadTools",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "hello-signalbox", dependencies: ["SignalingClient"], path: "Examples/HelloSignalbox",
            swiftSettings: settings),
        .executableTarget(
            name: "first-chat", dependencies: ["SignalingClient", "TextChatFoundation"], path: "Examples/FirstChat",
            swiftSettings: settings),
        .executableTarget(
            name: "small-chat", dependencies: ["SignalingClient", "TextChatFoundation", "TextChatTesting"],
            path: "Examples/SmallChat", swiftSettings: settings),
        // Code written for OpenTok is in this language mode.
        .executableTarget(
            name: "opentok-text-chat", dependencies: ["OpenTok"], path: "Examples/TextChatSample",
            swiftSettings: settings + [.swiftLanguageMode(.v5)]),

        .target(
            name: "TestSupport", dependencies: ["SignalingCore", "SignalingProtocol"], path: "Tests/TestSupport",
            swiftSettings: settings),
        .target(
            name: "RedisTestSupport",
            dependencies: ["SignalingRedis", "SignalingProtocol", "VerificationTools", "CHiredis"],
            path: "Tests/RedisTestSupport", swiftSettings: settings),
        // The interpreter of Redis' functions.
        .systemLibrary(name: "CLua", path: "Tests/RedisSimulation/CLua", providers: [.apt(["liblua5.1-0-dev"])]),
        .target(
            name: "RedisSimulation",
            dependencies: [
                "CLua", "SignalingCore", "SignalingProtocol", "SignalingRedis", "SignalingRedisCore", "TestSupport",
                .product(name: "HeapModule", package: "swift-collections"),
            ],
            path: "Tests/RedisSimulation", exclude: ["CLua"], swiftSettings: settings),
        .executableTarget(
            name: "json-leak-check", dependencies: ["JSONText"], path: "Tests/LeakCheck", swiftSettings: settings),
        .executableTarget(
            name: "conformance-echo-server",
            dependencies: ["SignalingTransport", .product(name: "Logging", package: "swift-log")],
            path: "Tests/Conformance/EchoServer", swiftSettings: settings),
        // Pure targets need the C library's mathematics, which other targets get with Foundation.
        .executableTarget(
            name: "signal-costs", dependencies: ["JSONText", "SignalingCore", "SignalingProtocol"],
            path: "Tests/Benchmarks/Costs", exclude: ["costs.json"], swiftSettings: settings,
            linkerSettings: [.linkedLibrary("m")]),
        .executableTarget(
            name: "timeline-benchmark", dependencies: ["TextChat"], path: "Tests/Benchmarks/Timeline",
            swiftSettings: settings, linkerSettings: [.linkedLibrary("m")]),
        .target(
            name: "FuzzTargets",
            dependencies: [
                "JSONText", "SignalingCore", "SignalingProtocol", "SignalingServer", "SignalingTokens",
                "SignalingTransport", .product(name: "Crypto", package: "swift-crypto"),
            ],
            path: "Tests/Fuzz/Targets", swiftSettings: settings),
        .testTarget(
            name: "FuzzTests", dependencies: ["FuzzTargets", "TestSupport"], swiftSettings: settings),
        .testTarget(name: "JSONTextTests", dependencies: ["JSONText", "TestSupport"], swiftSettings: settings),
        .testTarget(
            name: "SignalingProtocolTests", dependencies: ["SignalingProtocol", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "SignalingTokensTests",
            dependencies: [
                "SignalingTokens", "TestSupport", .product(name: "CryptoExtras", package: "swift-crypto"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "SignalingCoreTests",
            dependencies: [
                "SignalingCore", "SignalingRedis", "SignalingRedisCore", "SignalingSQLite", "RedisTestSupport",
                "TestSupport",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "command-log-writer", dependencies: ["SignalingSQLite", "TestSupport"],
            path: "Tests/CommandLogWriter",
            swiftSettings: settings),
        .executableTarget(
            name: "command-log-benchmark", dependencies: ["SignalingSQLite", "TestSupport"],
            path: "Tests/Benchmarks/CommandLog",
            swiftSettings: settings),
        .testTarget(
            name: "SignalingSQLiteTests",
            dependencies: [
                "SignalingSQLite", "SignalingCore", "TestSupport", "VerificationTools", "command-log-writer",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "redis-log-benchmark",
            dependencies: ["SignalingRedis", "SignalingRedisCore", "VerificationTools", "CHiredis"],
            path: "Tests/Benchmarks/RedisLog",
            swiftSettings: settings),
        .testTarget(
            name: "SignalingRedisTests",
            dependencies: [
                "SignalingRedis", "SignalingRedisCore", "SignalingCore", "CHiredis", "RedisSimulation",
                "RedisTestSupport", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "SignalingServerTests",
            dependencies: [
                "SignalingServer", "SignalingCore", "TestSupport", .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "TextChatTests",
            dependencies: ["TextChat", "TextChatFoundation", "TextChatTesting", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "SignalingTransportTests",
            dependencies: [
                "SignalingTransport", "SignalingProtocol", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "SignalingClientTests",
            dependencies: [
                "SignalingClient", "SignalingProtocol", "JSONText", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "SimulationTests",
            dependencies: [
                "SignalingServer", "SignalingClient", "SignalingCore", "SignalingTokens", "SignalingTransport",
                "SignalingVerification", "TestSupport",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(name: "LoadToolsTests", dependencies: ["LoadTools"], swiftSettings: settings),
        .testTarget(
            name: "LoopbackTests",
            dependencies: [
                "SignalingServer", "SignalingClient", "SignalingCore", "SignalingTokens", "TestSupport",
                "VerificationTools",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "OpenTokTests",
            dependencies: [
                "OpenTok", "VonageClientSDKVideo", "SignalingServer", "SignalingCore", "SignalingTokens",
                "SignalingProtocol", "TestSupport",
                "opentok-text-chat", "VerificationTools",
                .product(name: "Crypto", package: "swift-crypto"), .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)

// Only scripts/test sets this. A package that depends on this one is built with warnings suppressed, and the compiler
// refuses both options together.
if Context.environment["SIGNALBOX_WARNINGS_AS_ERRORS"] != nil {
    for target in package.targets { target.swiftSettings?.append(.treatAllWarnings(as: .error)) }
}

// In the build of scripts/test, the modules that its randomized tests use most are optimized, and keep their assertions.
if Context.environment["SIGNALBOX_OPTIMIZED"] != nil {
    let optimized: Set = ["JSONText", "SignalingCore", "SignalingProtocol", "TextChat"]
    for target in package.targets where optimized.contains(target.name) {
        target.swiftSettings?.append(.unsafeFlags(["-O", "-assert-config", "Debug"]))
    }
}
