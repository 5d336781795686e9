/// The expected result of one event in one state of a life cycle.
enum Cell<Stage: Sendable>: Sendable {
    /// These effects in this order, and then this state; nil if the state stays.
    case gives([String], Stage?)
    /// The event can happen, and changes nothing.
    case ignored
    /// The event cannot happen, for this reason.
    case impossible(String)

    static func gives(_ effects: String..., to stage: Stage? = nil) -> Cell { .gives(effects, stage) }
}
