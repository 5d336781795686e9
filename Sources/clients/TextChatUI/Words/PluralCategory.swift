/// The plural categories of Unicode's CLDR for whole numbers, in the languages of the texts.
enum PluralCategory: String {
    case zero, one, two, few, many, other

    /// - Parameter language: the code of a language.
    init(of count: Int, in language: String) {
        // Of these languages, those with "de millones" and the like write it after a round million.
        let isMillions = count != 0 && count % 1_000_000 == 0
        self =
            switch (language, count) {
            case ("ja", _), ("zh", _): .other
            case ("ar", 0): .zero
            case ("ar", 2): .two
            case ("ar", _) where (3...10).contains(count % 100): .few
            case ("ar", _) where count % 100 > 10: .many
            case (_, 1), ("fr", 0), ("pt", 0): .one
            case ("es", _) where isMillions, ("fr", _) where isMillions, ("pt", _) where isMillions: .many
            default: .other
            }
    }
}
