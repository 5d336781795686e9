import SignalingProtocol

/// The nodes that serve a session. They are part of the state, so that every node has the same view of them.
extension SessionState {
    /// Notes the number, the submitter and the rules of the command that is carried out next. Call it before each
    /// command of a log. An entry of a node with older rules may follow one of newer rules, which stay then.
    mutating func beginCommand(at position: LogPosition, by rules: RulesVersion) {
        // Nobody has noted what has changed before.
        if self.rules < .changes, rules >= .changes { changeables = Changeables(after: log.lastSeq) }
        self.rules = max(self.rules, rules)
        commandNumber = position.number
        isAsleep = false
        submitter = position.id.run
        if keeper == nil { keeper = submitter }
    }

    /// The keeper, and the nodes with connections that have a socket.
    var nodes: Set<RunID> {
        var nodes: Set<RunID> = []
        if let keeper { nodes.insert(keeper) }
        for member in roster.members {
            if case .attached(_, let node) = member.attachment { nodes.insert(node) }
        }
        return nodes
    }

    /// Whether a connection has a socket of this node.
    func hasConnection(on run: RunID) -> Bool { roster.members.contains { $0.isAttached(toNode: run) } }

    /// Whether the node is the keeper, or a connection has a socket of it.
    func names(_ run: RunID) -> Bool { keeper == run || hasConnection(on: run) }
}
