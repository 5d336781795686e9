import Foundation
import SignalingProtocol

/// The programs that tests and benchmarks start, in one: `signalbox-tools NAME [ARGUMENT…]`.
@main
enum Tools: String, CaseIterable {
    case archive
    case commandLog = "command-log"
    case commandLogWriter = "command-log-writer"
    case costs
    case echoServer = "echo-server"
    case jsonLeaks = "json-leaks"
    case outboxWriter = "outbox-writer"
    case redisLog = "redis-log"
    case timeline

    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst(2))
        switch CommandLine.arguments.dropFirst().first.flatMap(Tools.init) {
        case .archive:
            try ArchiveBenchmark.run(
                count: arguments.first.flatMap { Int64($0) } ?? 1_000_000, folder: arguments.dropFirst().first,
                editedCount: arguments.dropFirst(2).first.flatMap { Int($0) } ?? 0)
        case .commandLog: try CommandLogBenchmark.run(folder: arguments.first)
        case .commandLogWriter: try CommandLogWriter.run(folder: arguments[0], run: UInt64(arguments[1]) ?? 0)
        case .costs: Costs.run()
        case .echoServer: try await EchoServer.run()
        case .jsonLeaks: try JSONLeaks.run(arguments)
        case .outboxWriter: try await OutboxWriter.run(arguments)
        case .redisLog: try RedisLogBenchmark.run()
        case .timeline: TimelineBenchmark.run()
        case nil:
            let names = allCases.map(\.rawValue).joined(separator: ", ")
            FileHandle.standardError.write(
                Data("usage: signalbox-tools NAME [ARGUMENT…]; the names are \(names)\n".utf8))
            exit(64)
        }
    }

    /// A session id of the usual length.
    static func session(_ number: Int) -> SessionID {
        SessionID(rawValue: "2_MX4xMjM0NTY3OH5-MTcwMDAwMDAwMDAwMH5\(number)~")
    }

    static func text(_ value: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", value) }

    static func pad(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(width - text.count, 0)) + text
    }
}
