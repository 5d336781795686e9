import Foundation
import TextChat

/// The links in the text of a message.
///
/// Only addresses with http or https are links, and only those whose host is in ASCII: no letter in it looks like another,
/// so a link opens what its text shows. The chat element has links to other hosts, too, and to mail; it needs the tables of
/// a browser for that.
public enum ChatLinks {
    /// A part of a text. The parts together are the text.
    public struct Part: Hashable, Sendable {
        public let text: String
        /// What a link opens; nil for a text.
        public let address: URL?
    }

    public static func parts(of text: String) -> [Part] {
        let scalars = Array(text.unicodeScalars)
        var parts: [Part] = []
        var end = 0
        var index = 0
        while index < scalars.count {
            guard let start = host(behindSchemeAt: index, in: scalars) else {
                index += 1
                continue
            }
            let found = scalars[index..<(scalars[start...].firstIndex(where: endsAddress) ?? scalars.count)]
            let written = withoutTrailing(withoutGluedText(found, path: start))
            if let address = address(written, host: start) {
                if index > end { parts.append(Part(text: string(scalars[end..<index]), address: nil)) }
                parts.append(Part(text: string(written), address: address))
                end = written.endIndex
            }
            index = max(found.endIndex, index + 1)
        }
        if end < scalars.count { parts.append(Part(text: string(scalars[end...]), address: nil)) }
        return parts
    }

    /// The text with its links, for a view.
    public static func attributed(_ text: String) -> AttributedString {
        var whole = AttributedString()
        for part in parts(of: text) {
            var piece = AttributedString(part.text)
            piece.link = part.address
            whole += piece
        }
        return whole
    }

    // MARK: Where an address begins and ends

    private typealias Scalars = ArraySlice<Unicode.Scalar>

    /// The index behind `https://`, if it begins here and at the beginning of a word.
    private static func host(behindSchemeAt index: Int, in scalars: [Unicode.Scalar]) -> Int? {
        guard scalars[index] == "h" || scalars[index] == "H" else { return nil }
        if index > 0, isWord(scalars[index - 1]) { return nil }
        for scheme in ["https://", "http://"] {
            let end = index + scheme.utf8.count
            if end < scalars.count, string(scalars[index..<end]).lowercased() == scheme { return end }
        }
        return nil
    }

    private static func endsAddress(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII {
            return scalar.value <= 0x20 || scalar.value == 0x7F || "<>\"'`".unicodeScalars.contains(scalar)
        }
        if scalar == "’" { return false }
        switch scalar.properties.generalCategory {
        // Marks of a sentence, quotes and brackets of all scripts: many of these write no space behind an address.
        case .control, .format, .openPunctuation, .closePunctuation, .initialPunctuation, .finalPunctuation,
            .otherPunctuation, .spaceSeparator, .lineSeparator, .paragraphSeparator:
            return true
        default: return false
        }
    }

    /// Without a text in a script without spaces that is glued to a path: `https://example.com/a을`.
    private static func withoutGluedText(_ found: Scalars, path start: Int) -> Scalars {
        var isASCII = false
        for index in start..<found.endIndex {
            let scalar = found[index]
            if "/?#&=".unicodeScalars.contains(scalar) {
                isASCII = true
            } else if !scalar.isASCII {
                // From here on scripts of Asia and Africa.
                if isASCII, scalar.value >= 0x0590, scalar.properties.isAlphabetic, isWord(found[index - 1]) {
                    return found[..<index]
                }
                isASCII = false
            }
        }
        return found
    }

    /// Without marks of the sentence around it, and without a closing bracket that was opened before the address.
    private static func withoutTrailing(_ found: Scalars) -> Scalars {
        let pairs: [Unicode.Scalar: Unicode.Scalar] = [")": "(", "]": "[", "}": "{"]
        // How many more closing brackets there are than opening ones.
        var excess: [Unicode.Scalar: Int] = [:]
        for scalar in found {
            if pairs[scalar] != nil { excess[scalar, default: 0] += 1 }
            if let closing = pairs.first(where: { $0.value == scalar })?.key { excess[closing, default: 0] -= 1 }
        }
        var rest = found
        while let last = rest.last {
            if let count = excess[last], count > 0 {
                excess[last] = count - 1
            } else if !".,;:!?…»’*_~".unicodeScalars.contains(last) {
                break
            }
            rest.removeLast()
        }
        return rest
    }

    // MARK: What it opens

    private static func address(_ written: Scalars, host start: Int) -> URL? {
        // A browser reads `\` as `/`, and Foundation does not.
        guard start < written.endIndex, !written.contains("\\") else { return nil }
        let end = written[start...].firstIndex { "/?#".unicodeScalars.contains($0) } ?? written.endIndex
        guard isPlainHost(string(written[start..<end])) else { return nil }
        return URL(string: string(written))
    }

    /// Whether the host, with its port, is a name in ASCII, or four numbers. A user before it would disguise it:
    /// `https://bank.example@attacker.example`.
    private static func isPlainHost(_ text: String) -> Bool {
        let pieces = text.split(separator: ":", omittingEmptySubsequences: false)
        guard pieces.count <= 2, pieces.count == 1 || UInt16(pieces[1]) != nil else { return false }
        let labels = pieces[0].split(separator: ".", omittingEmptySubsequences: false)
        let isPlain = labels.allSatisfy { !$0.isEmpty && $0.unicodeScalars.allSatisfy { isWord($0) || $0 == "-" } }
        guard isPlain, let last = labels.last, let first = last.first else { return false }
        guard first.isNumber else { return true }
        // Numbers of other forms are addresses, too: `0x7f.1` is 127.0.0.1.
        return labels.count == 4 && labels.allSatisfy { label in UInt8(label).map { String($0) == label } ?? false }
    }

    private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_": true
        default: false
        }
    }

    private static func string(_ scalars: Scalars) -> String { String(String.UnicodeScalarView(scalars)) }
}

extension ChatWords {
    /// The text of a message with its links, or that a moderator has erased it.
    public func attributed(_ message: ChatMessage) -> AttributedString {
        message.isErased ? AttributedString(self(.erased)) : ChatLinks.attributed(message.text)
    }
}
