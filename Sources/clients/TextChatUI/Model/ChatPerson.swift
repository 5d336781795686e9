import TextChat

/// The author of a message, as a view shows them.
public struct ChatPerson: Hashable, Sendable {
    /// The name, or "You".
    public let name: String
    /// A guest among users, who may have chosen the name of any of them.
    public let isGuest: Bool
    /// Shown beside the name if another person has the same one; else nil.
    public let number: Int?
    /// The first character of the name, as a capital letter.
    public let initial: String
    /// The number of the person's colour, below ``colourCount``: that of a user stays over connections and programs.
    public let colour: Int

    public static let colourCount = 16

    init(name: String, id: String, isGuest: Bool = false, number: Int? = nil) {
        self.name = name
        self.isGuest = isGuest
        self.number = number
        let first = name.first { !$0.isWhitespace } ?? "?"
        initial = String(first).uppercased()
        colour = id.unicodeScalars.reduce(0) { ($0 * 31 + Int($1.value)) % 65_521 } % Self.colourCount
    }
}
