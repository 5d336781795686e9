import SignalingProtocol

/// What a client is told of its peers: the details of connections, and the sender of each signal (G8).
extension WireJudge {
    /// What a token says of its client.
    struct TokenClaims: Sendable {
        var role: String
        var data: String
        /// nil for a guest.
        var user: WireOrder.User?
        var mayReadHistory: Bool
    }

    /// The members of a connection beside its ID. They never change.
    struct Details: Equatable, Sendable {
        var creationTime: Int64?
        var data: String?
        var user: WireOrder.User?
    }

    /// A token was issued. The connections that begin with it are judged by it.
    ///
    /// - Parameter user: nil for the token of a guest (USR-1).
    public mutating func issued(
        _ token: String, role: String, data: String, user: String? = nil, mayReadHistory: Bool = true
    ) {
        claims[token] = TokenClaims(
            role: role, data: data, user: user.map { self.user($0) }, mayReadHistory: mayReadHistory)
    }

    /// A connection in a line of the server. All lines give it the same details.
    mutating func noteDetails(of name: Name, in connection: WireLine) {
        let told = Details(
            creationTime: connection.number("creationTime"), data: connection.text("data"),
            user: connection.text("user").map { user($0) })
        guard let known = details[name] else {
            details[name] = told
            return
        }
        guard told != known else { return }
        report(
            .g8, .wrong,
            "\(id(name)) was told with \(told), and before with \(known): the details of a connection do not change (CON-5)"
        )
    }

    /// `connected` has the role and the connection data of the token that its client has shown.
    mutating func judgeIdentity(_ connected: WireLine, of name: Name, on number: SocketNumber) {
        guard let claims = sockets[number]?.claims else { return }
        if let role = connected.text("role"), role != claims.role {
            report(.g8, .wrong, "\(id(name)) has the role \(role), and its token has \(claims.role)")
        }
        let data = connected.member("connection")?.text("data")
        if data != claims.data {
            report(
                .g8, .wrong, "\(id(name)) has the data \(data ?? "(none)"), and its token has \(claims.data) (CON-5)")
        }
        let user = connected.member("connection")?.text("user")
        let named = claims.user.map { moderation.users[Int($0)] }
        if user.map({ self.user($0) }) != claims.user {
            report(
                .g8, .wrong,
                "\(id(name)) is user \(user ?? "(none)"), and its token names \(named ?? "(none)") (USR-2)")
        }
    }

    /// SIG-9, RES-5: a receiver that cannot know the sender from its list is told who it is.
    mutating func judgeSender(_ signal: WireLine, from: Name?, on number: SocketNumber) {
        guard let socket = sockets[number], let receiver = socket.connection, let data = signal.text("data") else {
            return
        }
        guard let told = signal.member("connection") else {
            let isReplay = signal.seq.map { $0 <= socket.onlyBroadcastsThrough } ?? false
            guard from != nil, isReplay || socket.suppressesPresence else { return }
            let rule = isReplay ? "in a replay for a new connection (RES-5)" : "without presence (SIG-9)"
            return report(.g8, .missing, "\(id(receiver)) got \(data) without the details of its sender, \(rule)")
        }
        guard let from, told.text("connectionId") == id(from) else {
            return report(
                .g8, .wrong, "\(id(receiver)) got \(data) with the details of a connection that did not send it (SIG-9)"
            )
        }
        noteDetails(of: from, in: told)
    }

    /// SIG-7: a signal arrives with the type and the target that its sender gave it.
    mutating func judgeAddress(_ signal: WireLine, of sending: Sending, on number: SocketNumber) {
        guard let receiver = sockets[number]?.connection, let data = signal.text("data") else { return }
        if signal.text("type") != sending.type {
            report(
                .g8, .wrong,
                "\(id(receiver)) got \(data) with the type \(signal.text("type") ?? "(none)"), and it was sent with "
                    + "\(sending.type ?? "(none)")")
        }
        let target: String? =
            switch sending.to {
            case .all: nil
            case .connection(let name): id(name)
            }
        if signal.text("to") != target {
            report(
                .g8, .wrong,
                "\(id(receiver)) got \(data) as a signal to \(signal.text("to") ?? "all"), and it was sent to "
                    + "\(target ?? "all") (SIG-7)")
        }
    }
}
