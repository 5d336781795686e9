import SignalingProtocol

extension Roster {
    /// The first invariant that does not hold; `nil` if all do. Takes time in proportion to the members.
    var violation: String? {
        // Empty seats are removed when they are the majority of more than a few, by a member that leaves.
        if seatCount > Self.smallCount + 2 * count + 1 {
            return "G5: the roster keeps \(seatCount) seats for \(count) members"
        }
        var (seatedCount, byteCount, newest) = (0, 0, WallTime?.none)
        for case (let index, let member?) in seats.enumerated() {
            let connection = member.connection
            if seatIndices[connection.connectionId] != index {
                return "G7: the roster does not find \(connection.connectionId) in seat \(index)"
            }
            if let newest, connection.creationTime <= newest {
                return "CON-5: \(connection.connectionId) is not newer than the member before it"
            }
            if let fault = member.violation { return "\(fault) (connection \(connection.connectionId))" }
            newest = connection.creationTime
            seatedCount += 1
            byteCount += EncodedLine.connection(in: member.encodedConnection).count + 1
        }
        if seatedCount != count { return "G7: \(seatedCount) members have seats, and \(count) have IDs" }
        let blockCounts = list.blockCounts
        if list.count != count || blockCounts.reduce(0, +) != count || blockCounts.contains(0) {
            return "CON-11: the list has \(list.count) connections in blocks of \(blockCounts), and the roster \(count)"
        }
        if list.byteCount != byteCount {
            return "CON-11: the list counts \(list.byteCount) bytes, and its connections have \(byteCount)"
        }
        return nil
    }
}

extension Roster.Member {
    fileprivate var violation: String? {
        if ticket.connectionId != connection.connectionId || ticket.role != role || ticket.data != connection.data
            || ticket.user != connection.user
        {
            return "RES-7: the ticket is of another connection, role, data or user"
        }
        if ticket.begin > ticket.joined {
            return "RES-11: the connection may read from \(ticket.begin) on, and joined at \(ticket.joined)"
        }
        if !isDetached, let reach = ticket.reach {
            return "G4: a connection with a socket can have events up to \(reach) only"
        }
        return ticket.secrets.violation ?? answers.violation
    }
}

extension ValidSecrets {
    fileprivate var violation: String? {
        unconfirmed.count <= Self.unconfirmedLimit && superseded.count <= Self.supersededLimit
            ? nil : "G5: \(unconfirmed.count) secrets are unconfirmed, and \(superseded.count) superseded"
    }
}

extension AnswerBook {
    /// Looks at the newest answer alone: each connection keeps hundreds.
    fileprivate var violation: String? {
        if entries.count > Limits.unansweredRequests { return "G5: the book has \(entries.count) answers" }
        if let newest = entries.last?.request, highest.map({ $0 < newest }) ?? true {
            return "RES-9: the book has an answer to \(newest), behind its highest request"
        }
        if let repeatedThrough, highest.map({ $0 < repeatedThrough }) ?? true {
            return "RES-9: requests up to \(repeatedThrough) may be repeated, and none of them was made"
        }
        return nil
    }
}

extension Detachments {
    /// Takes time in proportion to the losses.
    var violation: String? {
        let losses = losses
        if losses.count != count { return "RES-2: \(losses.count) losses count, and \(count) are counted" }
        if losses.first != oldest { return "RES-2: the oldest loss does not count any more" }
        // Those that do not count are removed in the same way.
        if entryCount > 2 * count + Self.smallCount { return "G5: \(entryCount) entries are kept for \(count) losses" }
        var ofTokens: [TokenFingerprint: (count: Int, oldest: Loss)] = [:]
        for loss in losses {
            guard let token = loss.token else { continue }
            ofTokens[token, default: (0, loss)].count += 1
        }
        for (token, expected) in ofTokens
        where count(of: token) != expected.count || oldest(of: token) != expected.oldest {
            return "RES-12: a token has \(expected.count) losses, and \(count(of: token)) are counted"
        }
        return nil
    }
}
