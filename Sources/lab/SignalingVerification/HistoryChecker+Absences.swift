import SignalingProtocol

/// From the application's view, an absence begins and ends once, and only of a connection that is in the list (PRES-4).
struct AbsenceView {
    private var away: Set<ConnectionID> = []

    /// - Returns: what is wrong with the step; nil for a step that fits.
    mutating func note(_ action: History.Action, in view: Set<ConnectionID>, by name: String) -> String? {
        switch action {
        case .away(let id):
            if !away.insert(id).inserted { return "\(name) heard twice that \(id) is away" }
            return view.contains(id) ? nil : "\(name) heard that \(id) is away, which is not in its list"
        case .back(let id):
            return away.remove(id) == nil ? "\(name) heard that \(id) is back, and not that it was away" : nil
        case .destroyed(let id, _): away.remove(id)
        case .ended: away = []
        case .opening, .entered, .sent, .answered, .received, .created, .erased, .userJoined, .userLeft, .moderated,
            .reconnected:
            break
        }
        return nil
    }
}
