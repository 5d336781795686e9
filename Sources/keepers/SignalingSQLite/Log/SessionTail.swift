import SignalingCore

/// The end of one session's order: assigns numbers, and recognizes commands that the log has (LOG-3).
struct SessionTail {
    /// Commands of one run that follow each other.
    private struct Block {
        let run: RunID
        let firstCounter: UInt64
        let firstNumber: UInt64
        var lastCounter: UInt64

        /// The number of a command; `nil` if the block does not have it.
        func number(of id: CommandID) -> UInt64? {
            guard id.run == run, firstCounter <= id.counter, id.counter <= lastCounter else { return nil }
            return firstNumber + (id.counter - firstCounter)
        }
    }

    /// Names the session in the database. A session that ends and begins again gets another key.
    let key: SessionKey
    /// The number of the last command; 0 before the first.
    private(set) var number: UInt64
    /// The number of the newest snapshot that the caller gave; 0 before the first.
    var snapshotNumber: UInt64 = 0
    /// In their order. A process has one block per session, since it continues the blocks of dead runs only.
    private var blocks: [Block] = []

    /// - Parameter covered: the last command before those that are added; `none` for a new session.
    init(key: SessionKey, covered: LogPosition = .none) {
        self.key = key
        number = covered.number
        guard covered.number > 0 else { return }
        blocks = [
            Block(
                run: covered.id.run, firstCounter: covered.id.counter, firstNumber: covered.number,
                lastCounter: covered.id.counter)
        ]
    }

    enum Placement: Equatable {
        /// The command gets the next number.
        case new(number: UInt64)
        /// The log has the command under this number.
        case repeated(number: UInt64)
    }

    mutating func place(_ id: CommandID) throws(RefusedCommand) -> Placement {
        let expected = (blocks.last { $0.run == id.run }?.lastCounter ?? 0) + 1
        guard id.counter >= expected else {
            guard let number = blocks.lazy.compactMap({ $0.number(of: id) }).first else {
                throw RefusedCommand(reason: .forgotten)
            }
            return .repeated(number: number)
        }
        guard id.counter == expected else { throw RefusedCommand(reason: .gap(expected: expected)) }
        add(id)
        return .new(number: number)
    }

    /// Adds a command that is in the log already.
    mutating func add(_ id: CommandID) {
        number += 1
        if let last = blocks.indices.last, blocks[last].run == id.run, blocks[last].lastCounter + 1 == id.counter {
            blocks[last].lastCounter = id.counter
        } else {
            blocks.append(
                Block(run: id.run, firstCounter: id.counter, firstNumber: number, lastCounter: id.counter))
        }
    }

    /// Whether the session has a command at this position. Commands before the first known block are not known.
    func contains(_ position: LogPosition) -> Bool {
        blocks.contains { $0.number(of: position.id) == position.number }
    }
}

/// The number of a session in the database.
struct SessionKey: Hashable, Sendable {
    let rawValue: Int64
    init(_ rawValue: Int64) { self.rawValue = rawValue }
}
