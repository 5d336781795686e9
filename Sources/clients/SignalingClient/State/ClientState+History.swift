import SignalingProtocol

/// Pages of the session's history. A page changes no position: its messages may be older or newer than the last event
/// (HIS-4).
extension ClientState {
    /// The page that a connect asked for, while the client waits for it (HIS-5).
    struct AwaitedPage {
        /// The connect's, or after a resume that of a request of its own.
        var id: RequestID
        let request: HistoryRequest
    }

    /// The server answers the option of this connect, if there is one and the client may read.
    mutating func awaitPage(of request: ConnectRequest, answered id: RequestID, by welcome: Welcome) {
        awaitedPage = welcome.hasHistory ? request.history.map { AwaitedPage(id: id, request: $0) } : nil
    }

    /// The option of a connect that resumes is ignored: the client asks for the page in another way.
    mutating func askForAwaitedPage() -> [Effect] {
        guard let request = awaitedPage?.request else { return [] }
        let id = nextRequest()
        awaitedPage?.id = id
        return [.send(.history(id, request))]
    }

    mutating func pageArrived(_ id: RequestID, _ answer: HistoryAnswer) -> [Effect] {
        if id == awaitedPage?.id {
            awaitedPage = nil
            switch answer {
            case .page(let page): return [.emit(.history(page))]
            // The application may read it by a request, which then says what is wrong.
            case .unreadable: return []
            }
        }
        guard let request = pending.removeAnswered(id) else { return [] }
        let effect: Effect =
            switch (request.content, answer) {
            case (.history, .page(let page)): .pageRead(request.call, page)
            case (.history, .unreadable(let error)): .callFailed(request.call, error)
            case (.signal, _), (.forceDisconnect, _), (.refreshToken, _), (.change, _), (.react, _), (.reactors, _),
                (.read, _), (.erase, _), (.moderate, _), (.restrictions, _):
                .callFailed(request.call, Self.answerOfAnotherKind)
            }
        return [effect] + sendPending()
    }

    /// The answer to a moderator who has asked what holds.
    mutating func restrictionsArrived(_ id: RequestID, _ records: [RestrictionRecord]) -> [Effect] {
        answered(id) {
            if case .restrictions = $0.content { .restrictionsRead($0.call, records) } else { nil }
        }
    }

    mutating func reactorsArrived(_ id: RequestID, _ reactors: [Reactors]) -> [Effect] {
        answered(id) { if case .reactors = $0.content { .reactorsRead($0.call, reactors) } else { nil } }
    }

    /// - Parameter effect: of the answer; nil: it does not answer this request.
    private mutating func answered(
        _ id: RequestID, _ effect: (PendingRequests.Request) -> Effect?
    ) -> [Effect] {
        guard let request = pending.removeAnswered(id) else { return [] }
        return [effect(request) ?? .callFailed(request.call, Self.answerOfAnotherKind)] + sendPending()
    }

    static let answerOfAnotherKind = SignalingError(
        .unexpectedServerResponse, "the server's answer is that to another kind of request")
}
