import SignalingCore
import SignalingProtocol
import TestSupport
import Testing

/// What becomes of edited messages, and of all steps together.
extension MessageArchiveContract {
    // MARK: - Forms

    func puts() throws {
        let archive = try open()
        try archive.append((1...60).map { $0 })
        let long = archivedForm(3, version: 72, byteCount: 60_000)
        try archive.put([long, archivedForm(2, version: 70)])
        let expected = [archived(1), archived(2, as: archivedForm(2, version: 70)), archived(3, as: long)]
        #expect(try archive.page(.before(Seq(4)), limit: 1).messages == [expected[2]], "head and time are as they were")
        #expect(try archive.page(.before(Seq(3))).messages == Array(expected[..<2]))
        #expect(try archive.page(.before(Seq(4)), limit: 1).messages.first?.version == Seq(72))
        // What is repeated, or comes late from a node that stood still.
        try archive.put([long, archivedForm(2, version: 70)])
        try archive.put([archivedForm(2, version: 70, byteCount: 200), archivedForm(3, version: 71)])
        try archive.append([2, 3])
        #expect(try Array(archive.all(of: "session").prefix(3)) == expected)
        // Several of one message, and a seq that has more digits.
        try archive.put([archivedForm(2, version: 1_000), archivedForm(2, version: 99), archivedForm(3, version: 101)])
        #expect(try archive.all(of: "session").prefix(4).map(\.version) == [nil, Seq(1_000), Seq(101), nil])
        // Content that does not end with a version.
        for content in Self.withoutVersion {
            try archive.put([ArchivedForm(seq: Seq(1), content: Array(content.utf8))])
            #expect(try archive.all(of: "session").first == archived(1), "\(content)")
        }
        let least = ArchivedForm(seq: Seq(1), content: [], version: .zero, editedAt: WallTime(milliseconds: -7))
        try archive.put([least])
        #expect(try archive.page(.before(Seq(2))).messages == [archived(1, as: least)])
        #expect(try archive.counts([archive.all(of: "session")]))
    }

    /// Content that no edit has: a strict reader finds no version at its end.
    package static let withoutVersion = [
        "", "5", #","edited":1"#, #","data":"x""#, #","data":"x","changed":2000,"edited":1""#, #","json":true"#,
        #","changed":2000,"edited":1}"#, #","changed":2000,"edited":"#, #","changed":,"edited":1"#,
        #""changed":2000,"edited":1"#, #","changed":2000, "edited":1"#, #","changed":2000,"edited":1 "#,
        #","changed":02000,"edited":1"#, #","changed":2000,"edited":01"#, #","changed":-2000,"edited":1"#,
        #","changed":9007199254740994,"edited":1"#, #","changed":11111111111111111,"edited":1"#,
        #","changed":2000,"edited":11111111111111111"#, #","changed":2e3,"edited":1"#, #","edited":1,"changed":2000"#,
    ]

    func putsNothingBack() throws {
        let archive = try open(HistoryBounds(messageCount: 10))
        try archive.put([archivedForm(1, version: 20)])
        #expect(try archive.lastSeq() == nil && archive.count == 0)
        try archive.append([archived(1), archived(2, by: "u"), archived(3, by: "u"), archived(4), archived(6)])
        try archive.put([2, 3, 5, 6, 7].map { archivedForm($0, version: 20) })
        #expect(try archive.seqs() == [1, 2, 3, 4, 6], "it adds no message")
        try archive.erase(.message(Seq(6)), at: Seq(21))
        try archive.erase(.user("u"), at: Seq(22))
        try archive.put([2, 3, 4, 6].map { archivedForm($0, version: 30) })
        let expected = [
            archived(1), archived(2, by: "u").erased, archived(3, by: "u").erased,
            archived(4, as: archivedForm(4, version: 30)), archived(6).erased,
        ]
        #expect(try archive.page().messages == expected)
        try archive.erase(.through(Seq(1)))
        try archive.append((8...14).map { $0 })
        // The first is removed, and the second is trimmed.
        try archive.put([1, 2, 8].map { archivedForm($0, version: 40) })
        try archive.append([1, 2])
        #expect(try archive.seqs() == [3, 4, 6, 8, 9, 10, 11, 12, 13, 14])
        try archive.append([5])
        #expect(try archive.page().messages[1] == archived(5), "a form that came before its message is not kept")
    }

    func putBounds() throws {
        let size = archived(1).byteCount
        let archive = try open(HistoryBounds(byteCount: 20 * size))
        try archive.append((1...20).map { $0 })
        try archive.put([archivedForm(19, version: 30, byteCount: 3 * size)])
        #expect(try archive.seqs() == Array(3...20))
        // The oldest grows, and goes.
        try archive.put([archivedForm(3, version: 31, byteCount: 3 * size)])
        #expect(try archive.seqs() == Array(4...20))
        try archive.put((15...20).map { archivedForm($0, version: 32, byteCount: 2 * size) })
        #expect(try archive.seqs() == Array(7...20))
        // One that has become shorter makes room.
        try archive.put([archivedForm(20, version: 33, byteCount: size)])
        try archive.append([21, 22])
        #expect(try archive.seqs() == Array(8...22))
        #expect(try archive.counts([archive.all(of: "session")]))
    }

    // MARK: - Anything

    /// Any order of appending, editing, erasing and trimming leaves what a plain list has.
    func model(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let archive = try open(HistoryBounds(age: .seconds(1_000_000), messageCount: 60, byteCount: 60_000))
        var model: [SessionID: Model] = [:]
        for _ in 0..<200 {
            let id: SessionID = ["a", "b", "c"].randomElement(using: &random) ?? "a"
            switch Int.random(in: 0..<10, using: &random) {
            case 0:
                let seq = Seq(Int64.random(in: 1...400, using: &random))
                try archive.erase(.message(seq), of: id)
                model[id, default: Model()].erase(seq)
            case 1:
                let seq = Seq(Int64.random(in: 1...200, using: &random))
                try archive.erase(.through(seq), of: id)
                model[id, default: Model()].close(through: seq)
            case 2...4:
                let forms = (0..<Int.random(in: 1...20, using: &random)).map { _ in
                    archivedForm(
                        .random(in: 1...400, using: &random), version: .random(in: 401...1_200, using: &random),
                        byteCount: random.byteCount())
                }
                try archive.put(forms, of: id)
                model[id, default: Model()].put(forms)
            default:
                let start = Int64.random(in: 1...380, using: &random)
                let messages = (0..<Int64.random(in: 1...20, using: &random)).map {
                    archived(start + $0, byteCount: 30 + Int(start * 7919 % 97) * Int(start % 23))
                }
                try archive.append(messages, to: id)
                model[id, default: Model()].append(messages)
            }
            let expected = model[id]?.messages ?? []
            #expect(try archive.all(of: id) == expected, "seed \(seed)")
        }
        #expect(archive.count == model.values.reduce(0) { $0 + $1.messages.count })
        #expect(try archive.counts(model.values.map(\.messages).filter { !$0.isEmpty }))
    }

    private struct Model {
        var messages: [ArchivedMessage] = []
        var gone = Seq.zero
        var last = Seq.zero
        var byteCount: Int { messages.reduce(0) { $0 + $1.byteCount } }

        mutating func append(_ new: [ArchivedMessage]) {
            for message in new where message.seq > gone && !messages.contains(where: { $0.seq == message.seq }) {
                messages.append(message)
                last = max(last, message.seq)
            }
            messages.sort { $0.seq < $1.seq }
            trim()
        }

        mutating func put(_ forms: [ArchivedForm]) {
            for form in forms {
                guard let index = messages.firstIndex(where: { $0.seq == form.seq }), messages[index].content != nil,
                    let version = form.version, version > messages[index].version ?? .zero
                else { continue }
                messages[index] = archived(form.seq.rawValue, as: form)
            }
            trim()
        }

        private mutating func trim() {
            while messages.count > 60 || byteCount > 60_000 { close(through: messages[0].seq) }
        }

        mutating func erase(_ seq: Seq) {
            messages = messages.map { $0.seq == seq ? $0.erased : $0 }
        }

        mutating func close(through seq: Seq) {
            gone = max(gone, min(seq, last))
            messages.removeAll { $0.seq <= gone }
        }
    }

    /// A node tells the batches of a history in their order. Others, which stand still or fail, tell any of them, whole or
    /// in part, at any moment.
    func anyOrder(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let history = RandomHistory(&random)
        let archive = try open(HistoryBounds(messageCount: 1_000))
        func disturb() throws {
            while Int.random(in: 0..<3, using: &random) == 0, let batch = history.batches.randomElement(using: &random)
            {
                try archive.carryOut(Array(batch.prefix(.random(in: 1...batch.count, using: &random))))
            }
        }
        for batch in history.batches {
            try disturb()
            try archive.carryOut(batch)
        }
        try disturb()
        #expect(try archive.all(of: "session") == history.messages, "seed \(seed)")
        let newest = try archive.page(limit: 200)
        #expect(newest.messages == history.messages.suffix(newest.messages.count), "seed \(seed)")
        #expect(try archive.counts([history.messages].filter { !$0.isEmpty }), "seed \(seed)")
    }

    /// What happens in a session, as the batches that its archive is told, and the messages that are left.
    private struct RandomHistory {
        private(set) var batches: [[ArchiveStep]] = []
        private(set) var messages: [ArchivedMessage] = []

        init(_ random: inout SeededGenerator) {
            let users: [UserID?] = ["u", "v", nil]
            var (seq, batch): (Int64, [ArchiveStep]) = (0, [])
            while batches.count < 25 {
                seq += 1
                let old = Int64.random(in: 1...seq, using: &random)
                switch Int.random(in: 0..<24, using: &random) {
                case 0: batch.append(erase(.message(Seq(old)), at: seq))
                case 1 where seq > 150: batch.append(erase(.through(Seq(old / 3)), at: seq))
                case 2 where seq % 5 == 0: batch.append(erase(.user("u"), at: seq))
                case 3...10:
                    let form = archivedForm(old, version: seq, byteCount: random.byteCount())
                    if case .put(let others)? = batch.last {
                        batch[batch.count - 1] = .put(others + [form])
                    } else {
                        batch.append(.put([form]))
                    }
                    if let index = messages.firstIndex(where: { $0.seq == form.seq && $0.content != nil }) {
                        let old = messages[index]
                        messages[index] = ArchivedMessage(
                            seq: old.seq, time: old.time, head: old.head, content: form.content)
                    }
                default:
                    let message = archived(
                        seq, by: users.randomElement(using: &random) ?? nil, byteCount: random.byteCount())
                    messages.append(message)
                    batch.append(.append([message]))
                }
                if batch.count >= 12 {
                    batches.append(batch)
                    batch = []
                }
            }
        }

        private mutating func erase(_ erasure: Erasure, at seq: Int64) -> ArchiveStep {
            let scope = ErasureScope(erasure, at: Seq(seq))
            if case .through(let last) = erasure {
                messages.removeAll { $0.seq <= last }
            } else {
                messages = messages.map { scope.covers($0) ? $0.erased : $0 }
            }
            return .erase(scope)
        }
    }
}

/// An edit of the message of ``archived(_:by:byteCount:)``.
package func archivedForm(_ seq: Int64, version: Int64, byteCount: Int = 100) -> ArchivedForm {
    func form(_ text: String) -> ArchivedForm {
        ArchivedForm(
            seq: Seq(seq), content: Array(#","data":"\#(text)""#.utf8), version: Seq(version), editedAt: time(version))
    }
    let room = byteCount - archived(seq, as: form("")).byteCount
    return form(String(repeating: "e", count: max(0, room)))
}

private func archived(_ seq: Int64, as form: ArchivedForm) -> ArchivedMessage {
    let old = archived(seq)
    return ArchivedMessage(seq: old.seq, time: old.time, head: old.head, content: form.content)
}

extension SeededGenerator {
    /// Of a message: mostly small.
    fileprivate mutating func byteCount() -> Int {
        .random(in: 60...([100, 400, 9_000].randomElement(using: &self) ?? 100), using: &self)
    }
}
