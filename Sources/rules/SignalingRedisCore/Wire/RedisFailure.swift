import SignalingCore

/// Why Redis has refused a command. Read once, from the word in capitals with which its error begins.
package enum RedisFailure: Equatable {
    /// Redis has reached its memory limit.
    case full
    /// Redis is a replica.
    case readOnly
    /// Redis reads its data, and accepts no commands yet.
    case loading
    /// Redis refuses the user, the password, or a command of this user.
    case refused(String)
    /// Redis cannot write its data to the disk.
    case notWritten(String)
    /// Redis has no library of functions, or that of an older version.
    case functionMissing
    /// A key has another type than Signalbox gave it, or contents that a function cannot work with.
    case damaged(String)
    case other(String)

    package init(_ text: String) {
        let text = ForeignText.line(text)
        switch text.split(separator: " ").first {
        case "OOM": self = .full
        case "READONLY": self = .readOnly
        case "LOADING": self = .loading
        case "WRONGPASS", "NOAUTH", "NOPERM": self = .refused(text)
        case "MISCONF": self = .notWritten(text)
        case "WRONGTYPE": self = .damaged(text)
        // An error of Lua, not of a command that a function called.
        case "ERR" where text.hasPrefix("ERR user_function:"): self = .damaged(text)
        // Redis has no word of its own for this error.
        case "ERR" where text.contains("Function not found"): self = .functionMissing
        default: self = .other(text)
        }
    }
}

extension CommandLogFault {
    /// What Redis has sent is not what Redis sends. The link ends (LOG-37).
    package static func nonsense(_ text: String, from redis: String) -> CommandLogFault {
        CommandLogFault(
            .failing,
            "\(redis) does not answer as Redis does: \(text). Check whether another program is at this address.")
    }

    /// - Parameter redis: the address, without its password.
    package init(_ failure: RedisFailure, from redis: String) {
        switch failure {
        case .full: self.init(.full, "\(redis) has reached its memory limit. Raise maxmemory.")
        case .readOnly:
            self.init(.readOnly, "\(redis) is a replica and accepts no commands. Use the address of the primary.")
        case .loading: self.init(.loading, "\(redis) is still reading its data. Wait until it is ready.")
        case .refused(let text):
            self.init(
                .refused,
                "\(redis) refuses the user or the password: \(text). Check the user, the password, and what the user may do: "
                    + "docs/SCALING.md has an ACL.")
        case .notWritten(let text): self.init(.failing, "\(redis) cannot write its data to the disk: \(text)")
        case .functionMissing:
            self.init(.failing, "\(redis) answers with an error: it does not know a function of Signalbox")
        case .damaged(let text):
            self.init(
                .failing,
                "\(redis) has a key that another program has changed (\(text)). Delete this key, whose name begins "
                    + "with sb:, and give Signalbox a Redis of its own.")
        case .other(let text) where text.lowercased().hasPrefix("err unknown command"):
            self.init(
                .unsuitable,
                "\(redis) lacks a command that Signalbox needs, or has it under another name: \(text). Remove its "
                    + "rename-command; docs/SCALING.md lists the commands.")
        case .other(let text): self.init(.failing, "\(redis) answers with an error: \(text)")
        }
    }
}
