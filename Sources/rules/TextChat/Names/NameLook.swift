/// A name as a reader sees it: names that look alike are equal. Case, spaces, signs and hidden characters do not count,
/// nor does the script of a letter that looks like a Latin one.
struct NameLook: Hashable, Sendable {
    private let text: String

    init(_ name: String) {
        let shown = Self.visible(name)
        let written = Self.likeLatin(Self.likeLatin(shown).lowercased()).unicodeScalars.filter(\.isWritten)
        let lower = Self.replacing("rn", by: "m", in: String(String.UnicodeScalarView(written)))
        text = lower.isEmpty ? shown.plainLine : lower
    }

    /// Whether a chat shows this name for nobody's person, or as the number of some guest. A guest cannot have it.
    static func isReserved(_ name: String) -> Bool {
        if reserved.contains(NameLook(name)) { return true }
        let shown = visible(name).unicodeScalars
        let word = shown.reversed().drop {
            $0.properties.isWhitespace || $0.properties.generalCategory == .decimalNumber
        }
        return word.count < shown.count && guests.contains(NameLook(String(String.UnicodeScalarView(word.reversed()))))
    }

    /// The words by which a chat names who is no person: the server, the system and the reader, in each language of
    /// the chats.
    private static let reserved = Set(
        [
            "Server", "The server", "System", "You", "Sie", "Servidor", "Sistema", "Usted", "Serveur", "Système",
            "Vous",
            "Você", "サーバー", "システム", "自分", "服务器", "系统", "您", "伺服器", "系統", "الخادم", "النظام", "أنتم",
        ].map(NameLook.init))

    /// The words for a guest, of whom the chat shows a number.
    private static let guests = Set(
        ["Guest", "Gast", "Invitado", "Invité", "Convidado", "ゲスト", "访客", "訪客", "ضيف"].map(NameLook.init))

    /// Letters of other scripts, each before the Latin one that it looks like (UTS 39 has many more).
    private static let latin: [Unicode.Scalar: Unicode.Scalar] = {
        let pairs = Array(
            ("аaеeоoрpсcуyхxіiјjѕsһhкkмmнhтtвbԁdԛqԝwѵv" + "АaВbЕeКkМmНhОoРpСcТtУyХxІiЈjЅs"
                + "αaεeιiκkνvοoρpτtυuχxγyωwηn" + "ΑaΒbΕeΖzΗhΙiΚkΜmΝnΟoΡpΤtΥyΧx" + "ıi1i|ili0o").unicodeScalars)
        return Dictionary(
            stride(from: 0, to: pairs.count - 1, by: 2).map { (pairs[$0], pairs[$0 + 1]) }, uniquingKeysWith: { $1 })
    }()

    private static func likeLatin(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { latin[$0] ?? $0 }))
    }

    /// Without hidden characters, and with the plain letter for a wide one and the like: the part of Unicode's
    /// compatibility forms that looks like other names.
    private static func visible(_ name: String) -> String {
        let shown = name.unicodeScalars.filter { !$0.properties.isDefaultIgnorableCodePoint }
        return String(String.UnicodeScalarView(shown.map(\.plainForm)))
    }

    private static func replacing(_ pair: String, by letter: Character, in text: String) -> String {
        var result = ""
        for character in text {
            if let last = result.last, pair == "\(last)\(character)" {
                result.removeLast()
                result.append(letter)
            } else {
                result.append(character)
            }
        }
        return result
    }
}

extension Unicode.Scalar {
    fileprivate var isWritten: Bool {
        switch properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark, .decimalNumber, .letterNumber, .otherNumber: true
        default: isLetter
        }
    }

    /// The letter or digit of ASCII that a wide, mathematical or circled one shows; any other scalar itself.
    fileprivate var plainForm: Unicode.Scalar {
        switch value {
        case 0xFF01...0xFF5E: Self.ascii(value - 0xFF01 + 0x21)
        case 0x1D400...0x1D6A3: Self.letter((value - 0x1D400) % 52)
        case 0x1D7CE...0x1D7FF: Self.ascii((value - 0x1D7CE) % 10 + 0x30)
        case 0x24B6...0x24E9: Self.letter(value - 0x24B6)
        case 0x1F130...0x1F149: Self.letter(value - 0x1F130)
        default: self
        }
    }

    /// `A` to `Z`, then `a` to `z`.
    private static func letter(_ index: UInt32) -> Unicode.Scalar {
        ascii(index < 26 ? 0x41 + index : 0x61 + index - 26)
    }

    private static func ascii(_ value: UInt32) -> Unicode.Scalar { Unicode.Scalar(UInt8(truncatingIfNeeded: value)) }
}
