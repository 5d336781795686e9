/// The sentences of one language. `{0}`, `{1}`, `{2}` stand for names, `{count}` for the number.
public struct TypingPhraseTemplates: Hashable, Sendable {
    private let texts: [TypingPhrase.Key: String]

    /// A missing key has the empty sentence.
    public init(_ texts: [TypingPhrase.Key: String]) { self.texts = texts }

    public subscript(_ key: TypingPhrase.Key) -> String { texts[key] ?? "" }

    public static let english = TypingPhraseTemplates([
        .someone: "Someone is typing…",
        .one: "{0} is typing…",
        .two: "{0} and {1} are typing…",
        .three: "{0}, {1}, and {2} are typing…",
        .oneAndOther: "{0} and 1 other are typing…",
        .oneAndOthers: "{0} and {count} others are typing…",
        .twoAndOther: "{0}, {1}, and 1 other are typing…",
        .twoAndOthers: "{0}, {1}, and {count} others are typing…",
        .people: "{count} people are typing…",
        .several: "Several people are typing…",
    ])

    /// zh-Hans.
    public static let simplifiedChinese = TypingPhraseTemplates([
        .someone: "有人正在输入…",
        .one: "{0}正在输入…",
        .two: "{0}和{1}正在输入…",
        .three: "{0}、{1}和{2}正在输入…",
        .oneAndOther: "{0}和另外1人正在输入…",
        .oneAndOthers: "{0}和另外{count}人正在输入…",
        .twoAndOther: "{0}、{1}和另外1人正在输入…",
        .twoAndOthers: "{0}、{1}和另外{count}人正在输入…",
        .people: "{count}人正在输入…",
        .several: "多人正在输入…",
    ])

    /// The table for a language tag (BCP 47): Chinese for `zh` and what begins with it, English for every other.
    public static func matching(_ language: String) -> TypingPhraseTemplates {
        let tag = language.lowercased()
        return tag == "zh" || tag.hasPrefix("zh-") || tag.hasPrefix("zh_") ? .simplifiedChinese : .english
    }
}
