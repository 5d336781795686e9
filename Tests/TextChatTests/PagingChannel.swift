import JSONText
import SignalingProtocol
import TestSupport

@testable import TextChat

/// A channel that holds each request until the script answers it. Used on the main actor only.
final class PagingChannel: SignalChannel {
    nonisolated(unsafe) var id: ConnectionID?
    nonisolated(unsafe) var userID: UserID?
    nonisolated(unsafe) var order: Epoch?
    nonisolated(unsafe) var keepsHistory = false
    nonisolated(unsafe) var permitted: [ChangeKind]?
    nonisolated(unsafe) var readState: ReadState?
    nonisolated(unsafe) var asks: [String] = []
    nonisolated(unsafe) var requests: [String] = []
    nonisolated(unsafe) private var pages: [CheckedContinuation<Result<HistoryPage, SignalingError>, Never>] = []
    nonisolated(unsafe) private var sends: [CheckedContinuation<Result<Seq?, SignalingError>, Never>] = []
    nonisolated(unsafe) private var changing: [CheckedContinuation<Result<Seq, SignalingError>, Never>] = []
    nonisolated(unsafe) private var reacting: [CheckedContinuation<Result<Void, SignalingError>, Never>] = []
    nonisolated(unsafe) private var asking: [CheckedContinuation<Result<[Reactors], SignalingError>, Never>] = []
    nonisolated(unsafe) private var marking: [CheckedContinuation<Result<Void, SignalingError>, Never>] = []

    var connectionId: ConnectionID? { id }
    var user: UserID? { userID }
    var epoch: Epoch? { order }
    var hasHistory: Bool { keepsHistory }
    var changes: [ChangeKind]? {
        get { permitted }
        set { permitted = newValue }
    }

    func send(_ signal: SignalRequest) async throws(SignalingError) -> Seq? {
        requests.append("send \(Self.text(signal.data))")
        return try await withCheckedContinuation { sends.append($0) }.get()
    }

    func change(_ request: ChangeRequest) async throws(SignalingError) -> Seq {
        switch request.change {
        case .edit(let data, _): requests.append("edit \(request.ref): \(Self.text(data))")
        }
        return try await withCheckedContinuation { changing.append($0) }.get()
    }

    func erase(message: Seq) async throws(SignalingError) -> Seq {
        requests.append("erase \(message)")
        return try await withCheckedContinuation { changing.append($0) }.get()
    }

    func react(_ request: ReactRequest) async throws(SignalingError) {
        requests.append((["react \(request.ref)"] + request.keys).joined(separator: " "))
        try await withCheckedContinuation { reacting.append($0) }.get()
    }

    func reactors(_ request: ReactorsRequest) async throws(SignalingError) -> [Reactors] {
        requests.append("reactors \(request.ref)" + (request.key.map { " \($0)" } ?? ""))
        return try await withCheckedContinuation { asking.append($0) }.get()
    }

    func markRead(through seq: Seq) async throws(SignalingError) {
        requests.append("read \(seq)")
        try await withCheckedContinuation { marking.append($0) }.get()
    }

    func history(_ request: HistoryRequest) async throws(SignalingError) -> HistoryPage {
        let position =
            switch request.position {
            case .newest: "newest"
            case .before(let seq): "before \(seq.rawValue)"
            case .after(let seq): "after \(seq.rawValue)"
            case .changedAfter(let seq): "changed after \(seq.rawValue)"
            }
        asks.append("\(position), \(request.limit)")
        return try await withCheckedContinuation { pages.append($0) }.get()
    }

    /// Answers the request that has waited longest.
    func answer(_ answer: Result<HistoryPage, SignalingError>) throws {
        guard !pages.isEmpty else { throw BadVector(what: "an answer without a request") }
        pages.removeFirst().resume(returning: answer)
    }

    func answerSend(_ answer: Result<Seq?, SignalingError>) throws {
        guard !sends.isEmpty else { throw BadVector(what: "an answer without a send") }
        sends.removeFirst().resume(returning: answer)
    }

    func answerChange(_ answer: Result<Seq, SignalingError>) throws {
        guard !changing.isEmpty else { throw BadVector(what: "an answer without a change") }
        changing.removeFirst().resume(returning: answer)
    }

    func answerReaction(_ answer: Result<Void, SignalingError>) throws {
        guard !reacting.isEmpty else { throw BadVector(what: "an answer without a reaction") }
        reacting.removeFirst().resume(returning: answer)
    }

    func answerReactors(_ answer: Result<[Reactors], SignalingError>) throws {
        guard !asking.isEmpty else { throw BadVector(what: "an answer without a question") }
        asking.removeFirst().resume(returning: answer)
    }

    func answerMarker(_ answer: Result<Void, SignalingError>) throws {
        guard !marking.isEmpty else { throw BadVector(what: "an answer without a marker") }
        marking.removeFirst().resume(returning: answer)
    }

    /// The data of a message as the vectors write it: the text, and the members of JSON.
    private static func text(_ data: String?) -> String {
        guard let data, let members = try? JSONValue(parsing: data), members.objectValue != nil else {
            return data ?? ""
        }
        let named: [(String, String?)] = [
            ("by", members["sender"]?["alias"]?.stringValue),
            ("sentOn", members["sentOn"]?.integerValue.map(String.init)), ("localId", members["localId"]?.stringValue),
            ("re", members["re"]?.integerValue.map(String.init)),
        ]
        let words = named.compactMap { name, value in value.map { "\(name)=\($0)" } }
        return ([members["text"]?.stringValue ?? ""] + words).joined(separator: " ")
    }
}
