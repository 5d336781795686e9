// swift-tools-version: 6.0
// Xcode opens this folder as an app: File, Open. Other tools cannot build it.
import AppleProductTypes
import PackageDescription

let package = Package(
    name: "ChatApp",
    platforms: [.iOS("17.0")],
    products: [
        .iOSApplication(
            name: "ChatApp", targets: ["ChatApp"], bundleIdentifier: "org.example.signalbox.chat",
            displayVersion: "1.0", bundleVersion: "1",
            appIcon: .placeholder(icon: .chat), accentColor: .presetColor(.blue),
            supportedDeviceFamilies: [.phone, .pad],
            supportedInterfaceOrientations: [.portrait, .landscapeLeft, .landscapeRight],
            capabilities: [
                .outgoingNetworkConnections(),
                .localNetwork(purposeString: "The chat connects to a server in your network."),
                // For http in your own network. With https you do not need it.
                .appTransportSecurity(configuration: .init(allowsLocalNetworking: true)),
            ])
    ],
    dependencies: [.package(name: "signalbox", path: "../..")],
    targets: [
        .executableTarget(
            name: "ChatApp", dependencies: [.product(name: "TextChatUI", package: "signalbox")], path: "Sources")
    ]
)
