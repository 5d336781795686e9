import JSONText
import SignalingProtocol
import TestSupport
import Testing
import TextChatTesting

@testable import TextChat

@Suite(
    "CHAT-15, CHAT-16: the vectors of reactions and read markers, which JavaScript reads, too", .timeLimit(.minutes(5)))
@MainActor
struct ReactionVectorTests {
    @Test("users react", arguments: try Vectors.folder("chat/reactions"))
    func reactions(_ vector: VectorCase) async throws {
        try await HistoryScript(vector, isOfChanges: true).run(vector)
    }

    @Test("users read", arguments: try Vectors.folder("chat/readers"))
    func readers(_ vector: VectorCase) async throws {
        try await HistoryScript(vector, isOfChanges: true).run(vector)
    }
}

/// The steps and expectations of `chat/reactions` and `chat/readers`.
extension HistoryScript {
    func performReaction(_ step: JSONValue, _ id: TimelineRow.ID, _ name: String, now: WallTime) throws {
        let key = step["key"]?.stringValue
        let (seq, ref) = (Self.seq(step["seq"]) ?? .zero, Self.seq(step["ref"]) ?? .zero)
        let code = SignalingError.Code(number: Int(step["code"]?.integerValue ?? 500), name: "refused")
        let refusal = SignalingError(code, "no")
        switch step["do"]?.stringValue {
        case "reactions":
            handle(.reactions(ReactionsEvent(seq: seq, ref: ref, counts: Self.counts(step["counts"]))))
        case "reacted": handle(.reacted(seq, Self.own(step)))
        case "read":
            let user = UserID(step["user"]?.stringValue ?? "")
            handle(.read(ReadMarker(user, through: Self.seq(step["through"]) ?? .zero)))
        case "react":
            follow("react \(name) \(key ?? "")") { chat throws(ChangeError) in
                try await chat.toggleReaction(id, key: key ?? "", now: now)
            }
        case "acknowledgeReaction": try channel.answerReaction(.success(()))
        case "refuseReaction": try channel.answerReaction(.failure(refusal))
        case "reactors":
            Task {
                do throws(ChangeError) {
                    let found = try await chat.reactors(of: id, key: key)
                    outcomes.append("reactors \(name) \(found.map(Self.line).joined(separator: ", "))")
                } catch {
                    outcomes.append("reactors \(name) \(Self.word(error))")
                }
            }
        case "answerReactors": try channel.answerReactors(.success(Self.reactors(step["reactors"])))
        case "refuseReactors": try channel.answerReactors(.failure(refusal))
        case "markRead": chat.markRead(upTo: step["seq"] == .null ? nil : id)
        case "acknowledgeMarker": try channel.answerMarker(.success(()))
        case "refuseMarker": try channel.answerMarker(.failure(refusal))
        default: throw BadVector(what: "\(step)")
        }
    }

    /// Time passes, and what is due happens when it is due.
    func wait(_ step: JSONValue) async {
        let end = clock.instant.advanced(by: .milliseconds(step["ms"]?.integerValue ?? 0))
        while let deadline = chat.typing.nextDeadline, deadline <= end {
            clock.advance(by: deadline.duration(since: clock.instant))
            chat.typing.advance(to: clock.instant)
            for _ in 0..<30 { await Task.yield() }
        }
        clock.advance(by: end.duration(since: clock.instant))
    }

    // MARK: Values

    static func counts(_ value: JSONValue?) -> [ReactionCount] {
        (value?.arrayValue ?? []).map {
            ReactionCount($0.arrayValue?[0].stringValue ?? "", Int($0.arrayValue?[1].integerValue ?? 0))
        }
    }

    static func own(_ value: JSONValue) -> OwnReactions {
        OwnReactions(ref: seq(value["ref"]) ?? .zero, keys: (value["keys"]?.arrayValue ?? []).compactMap(\.stringValue))
    }

    private static func reactors(_ value: JSONValue?) -> [Reactors] {
        (value?.arrayValue ?? []).compactMap(\.arrayValue).map { each in
            Reactors(
                key: each[0].stringValue ?? "", count: Int(each[1].integerValue ?? 0),
                users: (each[2].arrayValue ?? []).compactMap { $0.stringValue.map { UserID($0) } })
        }
    }

    static func readState(_ value: JSONValue) -> ReadState? {
        guard let markers = value["markers"]?.stringValue.flatMap(ReadMarkers.init(rawValue:)) else { return nil }
        return ReadState(
            markers: markers, through: seq(value["through"]), unread: value["unread"]?.integerValue.map { Int($0) },
            readers: value["readers"]?.arrayValue?.map {
                ReadMarker(UserID($0["user"]?.stringValue ?? ""), through: seq($0["through"]) ?? .zero)
            })
    }

    // MARK: Expectations

    func compareReactions(_ step: JSONValue) {
        let reactions = chat.messages.filter { !$0.reactions.isEmpty }.map { message in
            let each = message.reactions.map { "\($0.key) \($0.count)" + ($0.isMine ? " mine" : "") }
            return "\(message.seq ?? .zero): \(each.joined(separator: ", "))"
        }
        expect(step, "reactions", .array(reactions.map { .string($0) }))
        let receipt = chat.receipt.map { receipt in
            let seq = chat.timeline.message(of: receipt.id)?.seq ?? .zero
            return "\(seq): \(receipt.users.map(Self.line).joined(separator: ", "))"
        }
        expect(step, "receipt", receipt.map { .string($0) } ?? .null)
        var seqs: [JSONValue] = []
        for message in updated.compactMap(\.message?.message) {
            let name: JSONValue =
                message.seq.map { .integer($0.rawValue) } ?? .string(message.localID?.rawValue ?? "")
            if !seqs.contains(name) { seqs.append(name) }
        }
        expect(step, "updates", .array(seqs))
    }

    private static func line(_ reactors: ChatReactors) -> String {
        (["\(reactors.key) \(reactors.count)"] + reactors.users.map(line)).joined(separator: " ")
    }

    private static func line(_ user: ChatUser) -> String {
        user.user.rawValue + (user.name.map { "=\($0)" } ?? "")
    }
}
