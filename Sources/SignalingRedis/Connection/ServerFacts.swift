import SignalingCore

/// What a Redis says about itself, and whether it can keep a log.
struct ServerFacts: Equatable {
    private let fields: [String: String]

    /// - Parameter text: the reply to INFO.
    init(info text: String) {
        var fields: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { fields[String(parts[0])] = String(parts[1]) }
        }
        self.fields = fields
    }

    var runID: String { fields["run_id"] ?? "" }

    /// Whether this Redis once was a replica that took over. It may lack commands that its predecessor had.
    var hasTakenOver: Bool { fields["master_replid2"].map { $0.contains { $0 != "0" } } ?? true }

    /// Why this Redis cannot keep a log.
    func fault(at address: RedisAddress) -> CommandLogFault? {
        let version = fields["redis_version"] ?? ""
        guard let major = version.split(separator: ".").first.flatMap({ Int($0) }) else {
            return CommandLogFault(.unsuitable, "\(address) does not tell its version. Use Redis 7.0 or later.")
        }
        if major < 7 {
            return CommandLogFault(
                .unsuitable, "\(address) runs Redis \(version), which has no functions. Use Redis 7.0 or later.")
        }
        if fields["loading"] == "1" { return .loading(address) }
        if fields["cluster_enabled"] == "1" {
            return CommandLogFault(
                .unsuitable,
                "\(address) is in cluster mode, which is not supported. List several independent Redis servers instead."
            )
        }
        if let role = fields["role"], role != "master" { return .readOnly(address) }
        return memoryFault(at: address)
    }

    private func memoryFault(at address: RedisAddress) -> CommandLogFault? {
        guard let limit = fields["maxmemory"].flatMap({ Int($0) }), limit > 0 else { return nil }
        if let policy = fields["maxmemory_policy"], policy != "noeviction" {
            return CommandLogFault(
                .unsuitable,
                "\(address) may delete sessions when its memory is full: its maxmemory-policy is \(policy). "
                    + "Set it to noeviction.")
        }
        guard let used = fields["used_memory"].flatMap({ Int($0) }), used >= limit else { return nil }
        return .full(address)
    }
}

extension CommandLogFault {
    static func loading(_ address: RedisAddress) -> CommandLogFault {
        CommandLogFault(.loading, "\(address) is still reading its data. Wait until it is ready.")
    }

    static func readOnly(_ address: RedisAddress) -> CommandLogFault {
        CommandLogFault(.readOnly, "\(address) is a replica and accepts no commands. Use the address of the primary.")
    }

    static func full(_ address: RedisAddress) -> CommandLogFault {
        CommandLogFault(.full, "\(address) has reached its memory limit. Raise maxmemory.")
    }

    /// The fault that an error reply stands for.
    init(_ reply: String, from address: RedisAddress) {
        switch reply.split(separator: " ").first {
        case "OOM": self = .full(address)
        case "READONLY": self = .readOnly(address)
        case "LOADING": self = .loading(address)
        case "WRONGPASS", "NOAUTH", "NOPERM":
            self = CommandLogFault(
                .refused,
                "\(address) refuses the user or the password: \(reply). Check the user, the password and its ACL.")
        case "MISCONF":
            self = CommandLogFault(.failing, "\(address) cannot write its data to the disk: \(reply)")
        default: self = CommandLogFault(.failing, "\(address) answers with an error: \(reply)")
        }
    }
}
