import JSONText
import SignalingProtocol
import TestSupport
import Testing

@testable import TextChat

@Suite("CHAT-12, CHAT-13, CHAT-14: the vectors of changes, which JavaScript reads, too", .timeLimit(.minutes(5)))
@MainActor
struct ChangeVectorTests {
    @Test("the messages of a chat change", arguments: try Vectors.folder("chat/changes"))
    func script(_ vector: VectorCase) async throws {
        try await HistoryScript(vector, isOfChanges: true).run(vector)
    }
}

/// The steps and expectations of `chat/changes`.
extension HistoryScript {
    func performChange(_ step: JSONValue, now: WallTime) throws {
        let name = (step["seq"]?.integerValue.map(String.init) ?? step["localId"]?.stringValue) ?? "none"
        let id = row(step)?.id ?? .message(-1)
        let text = step["text"]?.stringValue ?? ""
        switch step["do"]?.stringValue {
        case "changed":
            let isEdit = step["rel"]?.stringValue ?? "edit" == "edit"
            handle(
                .changed(
                    ChangeEvent(
                        seq: Self.seq(step["seq"]) ?? .zero, ref: Self.seq(step["ref"]) ?? .zero, from: nil,
                        change: isEdit ? .edit(data: Self.data(step), isJSON: false) : nil)))
        case "edit":
            follow("edit \(name)") { chat throws(ChangeError) in try await chat.editMessage(id, text: text, now: now) }
        case "delete":
            follow("delete \(name)") { chat throws(ChangeError) in try await chat.deleteMessage(id, now: now) }
        case "acknowledgeChange": try channel.answerChange(.success(Self.seq(step["seq"]) ?? .zero))
        case "refuseChange":
            let code = SignalingError.Code(number: Int(step["code"]?.integerValue ?? 500), name: "refused")
            try channel.answerChange(.failure(SignalingError(code, "no")))
        case "reply": chat.reply(to: row(step)?.id)
        case "draft": chat.edit(text)
        case "loadQuoted":
            guard let message = row(step)?.message?.message else { throw BadVector(what: "\(step)") }
            Task {
                let found = await chat.loadQuoted(message).flatMap { chat.timeline.message(of: $0)?.seq }
                outcomes.append("quoted by \(name): \(found.map { "\($0)" } ?? "null")")
            }
        default: try performReaction(step, id, name, now: now)
        }
    }

    func follow(
        _ word: String, _ call: @escaping @MainActor (TextChatComponent) async throws(ChangeError) -> Void
    ) {
        Task {
            do throws(ChangeError) {
                try await call(chat)
                outcomes.append("\(word) done")
            } catch {
                outcomes.append("\(word) \(Self.word(error))")
            }
        }
    }

    static func word(_ error: ChangeError) -> String {
        switch error {
        case .unknown: "unknown"
        case .erased: "erased"
        case .notOwn: "notOwn"
        case .notPermitted: "notPermitted"
        case .notConnected: "notConnected"
        case .restricted: "restricted"
        case .blank: "blank"
        case .tooLong, .signalTooLong: "tooLong"
        case .unchanged: "unchanged"
        case .refused(let error): "\(error.code.number)"
        case .cancelled: "cancelled"
        }
    }

    func row(_ step: JSONValue) -> TimelineRow? {
        chat.rows.first { row in
            guard let message = row.message?.message else { return false }
            if let seq = Self.seq(step["seq"]) { return message.seq == seq }
            return step["localId"]?.stringValue.map { message.localID == LocalID($0) } ?? false
        }
    }

    // MARK: Expectations

    func compareChanges(_ step: JSONValue) {
        func words(_ name: String, _ found: [String], orElse standard: JSONValue? = nil) {
            expect(step, name, .array(found.map { .string($0) }), orElse: standard)
        }
        words("requests", channel.requests, orElse: .array([]))
        // Tasks that end with one answer run in any order.
        let expected = step["outcomes"]?.arrayValue?.compactMap(\.stringValue) ?? []
        expect(
            ["outcomes": .array(expected.sorted().map { .string($0) })], "outcomes",
            .array(outcomes.sorted().map { .string($0) }))
        expect(step, "draft", .string(chat.draft))
        expect(
            step, "replyTarget",
            chat.timeline.message(of: chat.replyTarget)?.seq.map { .integer($0.rawValue) } ?? .null)
        let rows = chat.rows.filter { $0.message != nil }
        words("may", rows.map(mayLine))
        words("quotes", rows.compactMap(quoteLine))
        words(
            "edited",
            rows.compactMap { row in
                row.message.flatMap { row in
                    row.message.editedAt.map { "\(row.message.seq ?? .zero) \($0.milliseconds)" }
                }
            })
    }

    private func mayLine(_ row: TimelineRow) -> String {
        let message = row.message?.message
        let acts = [
            ("edit", chat.canEdit(row.id)), ("delete", chat.canDelete(row.id)), ("reply", chat.canReply(to: row.id)),
            ("react", chat.canReact(to: row.id)),
        ]
        let name = message?.seq.map { "\($0)" } ?? message?.localID?.rawValue ?? ""
        return ([name] + acts.filter(\.1).map(\.0)).joined(separator: " ")
    }

    private func quoteLine(_ row: TimelineRow) -> String? {
        guard let message = row.message?.message, let quote = chat.quote(of: message) else { return nil }
        let name = message.seq.map { "\($0)" } ?? message.text
        return switch quote {
        case .shown(_, let quoted): "\(name) shown: \(quoted.text)"
        case .deleted: "\(name) deleted"
        case .earlier(let seq): "\(name) earlier \(seq)"
        }
    }

    /// A row without groups, and without the words for an erased message.
    static func changeLine(_ row: TimelineRow) -> String {
        guard var row = row.message else { return line(row) }
        if row.message.isErased { row.message.text = "(erased)" }
        let line = line(TimelineRow(id: .message(0), content: .message(row)))
        return row.message.version == nil ? line : line + " edited"
    }
}
