/// The three states of a user who writes, as Layer has them. The raw values are Layer's `LYRTypingIndicatorAction`.
public enum TypingAction: Int, CaseIterable, Sendable {
    case begin = 0
    case pause = 1
    case finish = 2

    /// The word in a signal.
    public var word: String {
        switch self {
        case .begin: "begin"
        case .pause: "pause"
        case .finish: "finish"
        }
    }

    /// Nil if this version does not know the word.
    public init?(word: String) {
        guard let action = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = action
    }
}

extension TypingAction {
    // Layer's older names, `LYRTypingDidBegin` and so on.
    public static let didBegin = TypingAction.begin
    public static let didPause = TypingAction.pause
    public static let didFinish = TypingAction.finish
}
