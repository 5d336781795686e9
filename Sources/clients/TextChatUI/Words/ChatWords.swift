import Foundation
import SignalingProtocol
import TextChat

/// Writes the texts of the chat, and its dates, for one reader.
///
/// The texts are those of the chat element: Arabic, Chinese in both scripts, English, French, German, Japanese,
/// Portuguese and Spanish. In any other language the texts and the dates are English. Dates are of the reader's calendar
/// in any case.
public struct ChatWords: Sendable {
    /// The locale of the texts, the numbers and the dates.
    public let locale: Locale
    public let timeZone: TimeZone
    let calendar: Calendar
    private let language: String
    private let texts: [String: Text]
    private let own: [ChatWord: String]

    /// - Parameters:
    ///   - locale: of the reader; the default is that of the app, with the settings of the device.
    ///   - calendar: in which the reader reads dates; nil: that of the locale.
    ///   - own: texts in place of the built-in ones, also in another language. They name the same values in braces.
    public init(
        locale: Locale = .current, calendar: Calendar? = nil, timeZone: TimeZone = .current,
        own: [ChatWord: String] = [:]
    ) {
        let code = locale.language.languageCode?.identifier ?? "en"
        let table = code == "zh" ? (locale.language.script == .hanTraditional ? "zh-hant" : "zh-hans") : code
        let isKnown = Self.tables[table] != nil || !own.isEmpty
        // Dates in another language than the sentences around them help nobody.
        self.locale = isKnown ? locale : Locale(identifier: "en")
        language = isKnown ? code : "en"
        texts = Self.tables[table] ?? Self.tables["en"] ?? [:]
        self.own = own
        self.timeZone = timeZone
        // A formatter writes the names of its locale and the numbers of its calendar: both have to be the reader's.
        var calendar = calendar ?? locale.calendar
        calendar.timeZone = timeZone
        calendar.locale = self.locale
        self.calendar = calendar
    }

    // MARK: Texts

    /// A value in a text.
    public enum Value: Sendable {
        /// Of a stranger. It does not reorder the sentence around it.
        case name(String)
        /// In the language already.
        case text(String)
    }

    /// The text, with its values in the place of `{name}`.
    ///
    /// - Parameter count: chooses the plural, and is the value `{count}`.
    public func callAsFunction(_ word: ChatWord, _ values: [String: Value] = [:], count: Int? = nil) -> String {
        let template = own[word] ?? texts[word.rawValue]?.form(of: count ?? 0, in: language) ?? word.rawValue
        var text = ""
        // In one pass, so that a name such as "{count}" stays as it is.
        var rest = Substring(template)
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            text += rest[..<open]
            let name = rest[rest.index(after: open)..<close]
            switch values[String(name)] {
            case .name(let value): text += TypingPhrase.isolated(value, always: isRightToLeft)
            case .text(let value): text += value
            case nil: text += name == "count" ? number(count ?? 0) : String(rest[open...close])
            }
            rest = rest[rest.index(after: close)...]
        }
        return text + rest
    }

    private func number(_ count: Int) -> String { count.formatted(.number.locale(locale)) }

    /// The sentence that says who is typing; empty when nobody does.
    public func sentence(of phrase: TypingPhrase) -> String {
        switch phrase.key {
        case .nobody: return ""
        case .someone: return self(.typingSomeone)
        case .several: return self(.typingSeveral)
        case .people: return self(.typingPeople, count: phrase.count)
        case .one, .two, .three, .oneAndOther, .oneAndOthers, .twoAndOther, .twoAndOthers:
            let names = phrase.names.map { TypingPhrase.isolated($0, always: isRightToLeft) }
            let others = phrase.count > 0 ? [self(.others, count: phrase.count)] : []
            return self(
                .typingNames, ["names": .text(list(names + others))], count: names.count + phrase.count)
        }
    }

    var isRightToLeft: Bool { language == "ar" }

    /// “Ada, Bob, and Cyd”, of names that are isolated.
    func list(_ names: [String]) -> String {
        let list = names.formatted(.list(type: .and, width: .standard).locale(locale))
        // Some versions of Foundation isolate the names, too.
        return list.replacingOccurrences(of: "\u{2068}\u{2068}", with: "\u{2068}")
            .replacingOccurrences(of: "\u{2069}\u{2069}", with: "\u{2069}")
    }

    /// One text, or one for each plural category.
    private enum Text: Decodable, Sendable {
        case one(String)
        case plural([String: String])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                self = .one(text)
            } else {
                self = .plural(try container.decode([String: String].self))
            }
        }

        func form(of count: Int, in language: String) -> String? {
            switch self {
            case .one(let text): text
            case .plural(let forms): forms[PluralCategory(of: count, in: language).rawValue] ?? forms["other"]
            }
        }
    }

    private static let tables: [String: [String: Text]] = {
        guard let file = Bundle.module.url(forResource: "texts", withExtension: "json"),
            let data = try? Data(contentsOf: file)
        else { return [:] }
        return (try? JSONDecoder().decode([String: [String: Text]].self, from: data)) ?? [:]
    }()
}

// MARK: Dates

extension ChatWords {
    /// The day of a ``TimelineRow/Content/day(_:)`` row: “Today”, “Yesterday”, or the date in the reader's calendar.
    ///
    /// - Parameters:
    ///   - day: by the Gregorian calendar, as ``ReaderCalendar`` has it.
    ///   - today: the reader's day now.
    public func text(of day: LocalDay, today: LocalDay) -> String {
        if day == today { return self(.today) }
        var gregorian = Calendar(identifier: .gregorian)
        gregorian.timeZone = timeZone
        // A day may begin without a midnight, and every one has its noon.
        func noon(_ day: LocalDay) -> Date? {
            gregorian.date(from: DateComponents(year: day.year, month: day.month, day: day.day, hour: 12))
        }
        guard let date = noon(day) else { return day.description }
        if let now = noon(today), let before = gregorian.date(byAdding: .day, value: -1, to: now), before == date {
            return self(.yesterday)
        }
        return date.formatted(style(date: .omitted, time: .omitted).weekday(.wide).day().month(.wide).year())
    }

    /// The time of day.
    public func time(_ time: WallTime) -> String {
        Self.date(time).formatted(style(date: .omitted, time: .shortened))
    }

    /// A moment of today by its time, another one with its date.
    func moment(_ time: WallTime, now: WallTime) -> String {
        let date = Self.date(time)
        let isToday = calendar.isDate(date, inSameDayAs: Self.date(now))
        return date.formatted(style(date: isToday ? .omitted : .abbreviated, time: .shortened))
    }

    private func style(
        date: Date.FormatStyle.DateStyle, time: Date.FormatStyle.TimeStyle
    ) -> Date.FormatStyle {
        Date.FormatStyle(date: date, time: time, locale: locale, calendar: calendar, timeZone: timeZone)
    }

    /// In JavaScript's range of dates: a time of a server may be anything.
    static func date(_ time: WallTime) -> Date {
        let milliseconds = min(max(time.milliseconds, -8_640_000_000_000_000), 8_640_000_000_000_000)
        return Date(timeIntervalSince1970: Double(milliseconds) / 1000)
    }
}
