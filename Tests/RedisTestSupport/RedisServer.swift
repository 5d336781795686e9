import CHiredis
import Foundation
import VerificationTools

/// A `redis-server` of its own for one test, on a free port of the loopback interface.
package final class RedisServer {
    package struct Failed: Error, CustomStringConvertible {
        package let description: String
        package init(description: String) { self.description = description }
    }

    package private(set) var port: Int
    private let folder: URL
    private let options: [String]
    private var process: ChildProcess?

    /// In memory where the system has such a folder, since a busy disk takes its time to synchronize.
    private static let parent =
        FileManager.default.isWritableFile(atPath: "/dev/shm")
        ? URL(filePath: "/dev/shm") : FileManager.default.temporaryDirectory

    /// - Parameter options: of the command line, such as `["--appendonly", "yes"]`.
    package init(_ options: [String] = []) throws {
        folder = Self.parent.appending(path: "signalbox-redis-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        self.options = options
        port = 0
        // Another program may take the port before the server does.
        for attempt in 1...5 {
            port = try Self.freePort()
            do {
                try start()
                return
            } catch {
                if attempt == 5 { throw error }
            }
        }
    }

    deinit {
        kill()
        try? FileManager.default.removeItem(at: folder)
    }

    package var address: String { "redis://127.0.0.1:\(port)" }

    package func start(_ more: [String] = []) throws {
        let arguments = [
            "--port", "\(port)", "--bind", "127.0.0.1", "--dir", folder.path, "--save", "", "--logfile",
            folder.appending(path: "log").path,
            // It would wait five seconds for further replicas.
            "--repl-diskless-sync-delay", "0",
        ]
        let process = try ChildProcess(
            URL(filePath: "/usr/bin/redis-server"), arguments + options + more, output: .nullDevice)
        self.process = process
        try waitUntilReady(process)
    }

    private func waitUntilReady(_ process: ChildProcess) throws {
        let deadline = Date(timeIntervalSinceNow: 60)
        while true {
            // An error reply, such as that a password is needed, is an answer, too.
            if let reply = try? connect().call("PING"), !reply.hasPrefix("LOADING") { return }
            guard process.isRunning, Date() < deadline else {
                throw Failed(description: "redis-server on port \(port) has not started")
            }
            usleep(5_000)
        }
    }

    /// Ends the process as a crash does.
    package func kill() {
        process?.killAndWait()
        process = nil
    }

    /// Ends the process, and removes what it has on the disk.
    package func killAndForget() throws {
        kill()
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
            try FileManager.default.removeItem(at: file)
        }
    }

    /// Suspends the process, and waits until it stands still: on a busy machine, its threads may run on for a while.
    package func freeze() throws {
        guard let process else { return }
        process.signal(SIGSTOP)
        let deadline = Date(timeIntervalSinceNow: 60)
        while try !Self.standsStill(process.processIdentifier) {
            guard Date() < deadline else { throw Failed(description: "redis-server on port \(port) still runs") }
            usleep(1_000)
        }
    }

    package func thaw() { process?.signal(SIGCONT) }

    /// Whether all threads of a process are stopped.
    private static func standsStill(_ process: Int32) throws -> Bool {
        let folder = "/proc/\(process)/task"
        return try FileManager.default.contentsOfDirectory(atPath: folder).allSatisfy { task in
            let stat = try String(contentsOfFile: "\(folder)/\(task)/stat", encoding: .utf8)
            // The name of a thread, in parentheses, may contain any character. Its state follows.
            return stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].dropFirst().hasPrefix(" T ")
        }
    }

    /// Sends a command, and returns its reply as text; the elements of an array are separated by spaces.
    @discardableResult
    package func call(_ arguments: String...) throws -> String { try connect().call(arguments) }

    package func connect() throws -> BlockingClient { try BlockingClient(port: port) }

    /// A port below those that Linux gives to outgoing connections by default, so that Redis can have it again after a
    /// restart.
    private static func freePort() throws -> Int {
        for _ in 1...100 {
            let port = Int.random(in: 10_000..<32_768)
            if isFree(port) { return port }
        }
        throw Failed(description: "no free port")
    }

    private static func isFree(_ port: Int) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        address.sin_port = in_port_t(port).bigEndian
        return withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}

/// A connection that waits for each reply.
package final class BlockingClient {
    private let context: UnsafeMutablePointer<redisContext>

    package init(port: Int) throws {
        guard let context = redisConnectWithTimeout("127.0.0.1", Int32(port), timeval(tv_sec: 60, tv_usec: 0)) else {
            throw RedisServer.Failed(description: "out of memory")
        }
        self.context = context
        // From here on, the context is freed with this object, also if this throws.
        guard context.pointee.err == 0 else {
            throw RedisServer.Failed(description: "cannot connect to port \(port)")
        }
        redisSetTimeout(context, timeval(tv_sec: 60, tv_usec: 0))
    }

    deinit { redisFree(context) }

    @discardableResult
    package func call(_ arguments: String...) throws -> String { try call(arguments) }

    package func call(_ arguments: [String]) throws -> String {
        let copies = arguments.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        var pointers = copies.map { UnsafePointer<CChar>($0) }
        guard let reply = redisCommandArgv(context, Int32(arguments.count), &pointers, nil) else {
            throw RedisServer.Failed(description: "no reply to \(arguments.first ?? "")")
        }
        defer { freeReplyObject(reply) }
        return Self.text(reply.assumingMemoryBound(to: redisReply.self))
    }

    private static func text(_ reply: UnsafePointer<redisReply>) -> String {
        switch reply.pointee.type {
        case REDIS_REPLY_INTEGER: "\(reply.pointee.integer)"
        case REDIS_REPLY_ARRAY:
            (0..<reply.pointee.elements).compactMap { reply.pointee.element[$0].map { text($0) } }
                .joined(separator: " ")
        case REDIS_REPLY_NIL: "nil"
        default: reply.pointee.str.map { String(cString: $0) } ?? ""
        }
    }
}
