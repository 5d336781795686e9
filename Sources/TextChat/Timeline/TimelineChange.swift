/// One step from one list of rows to the next. Steps are applied in their order, each to what the one before it has left.
public enum TimelineChange: Equatable, Sendable {
    case insert(TimelineRow, at: Int)
    case remove(TimelineRow.ID, at: Int)
    /// The row is taken out at `from` and put in at `to`, which counts without it.
    case move(TimelineRow.ID, from: Int, to: Int)
    /// Another content under the same id, in the same place.
    case update(TimelineRow, at: Int)
}

extension [TimelineRow] {
    /// Does what the changes say. They have to be those that follow on these rows.
    public mutating func apply(_ changes: some Sequence<TimelineChange>) {
        for change in changes {
            switch change {
            case .insert(let row, let place): insert(row, at: place)
            case .remove(_, let place): remove(at: place)
            case .move(_, let from, let to): insert(remove(at: from), at: to)
            case .update(let row, let place): self[place] = row
            }
        }
    }
}
