import SignalingTransport

/// The variables in which a service manager passes its listening socket: sd_listen_fds(3).
public enum SocketActivation {
    public static let variables = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"]

    /// The first descriptor that is passed (`SD_LISTEN_FDS_START`).
    static let firstDescriptor: Int32 = 3

    /// The descriptor that the environment passes to this process; nil if there is none.
    ///
    /// `LISTEN_PID` names the process that the descriptors are for. Other processes inherit the variables by accident
    /// and ignore them.
    ///
    /// - Throws: ``ConfigurationError`` if a variable is not a number, or if there is more than one descriptor.
    static func descriptor(in environment: [String: String], processID: Int32) throws(ConfigurationError) -> Int32? {
        guard let receiver = environment["LISTEN_PID"] else { return nil }
        guard let receiver = Int32(receiver), receiver > 0 else {
            throw ConfigurationError("LISTEN_PID is \"\(receiver)\". Use the ID of the process that gets the socket.")
        }
        guard receiver == processID, let text = environment["LISTEN_FDS"] else { return nil }
        guard let count = Int(text), count >= 0 else {
            throw ConfigurationError("LISTEN_FDS is \"\(text)\". Use the number of sockets, 1.")
        }
        guard count <= 1 else {
            throw ConfigurationError(
                "LISTEN_FDS is \(count), but the server listens on one socket. Pass one, as descriptor "
                    + "\(firstDescriptor).")
        }
        return count == 1 ? firstDescriptor : nil
    }

    /// The socket that the environment passes to this process; nil if there is none.
    ///
    /// - Throws: ``ConfigurationError`` if a variable is wrong, `TransportError` `.notListening` if the descriptor is.
    public static func socket(in environment: [String: String], processID: Int32) throws -> ListeningSocket? {
        guard let descriptor = try descriptor(in: environment, processID: processID) else { return nil }
        return try ListeningSocket(descriptor: descriptor)
    }
}
