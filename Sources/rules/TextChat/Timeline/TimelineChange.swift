/// One step from one list of rows to the next. Apply steps in their order, each to the result of the one before.
public enum TimelineChange: Equatable, Sendable {
    case insert(TimelineRow, at: Int)
    case remove(TimelineRow.ID, at: Int)
    /// The row is removed at `from` and inserted at `to`, an index in the list without the row.
    case move(TimelineRow.ID, from: Int, to: Int)
    /// New content with the same ID at the same index.
    case update(TimelineRow, at: Int)
}

extension [TimelineRow] {
    /// Applies the changes that follow on these rows.
    public mutating func apply(_ changes: some Sequence<TimelineChange>) {
        for change in changes {
            switch change {
            case .insert(let row, let index): insert(row, at: index)
            case .remove(_, let index): remove(at: index)
            case .move(_, let from, let to): insert(remove(at: from), at: to)
            case .update(let row, let index): self[index] = row
            }
        }
    }
}
