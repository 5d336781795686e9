extension String {
    /// Whether a reader sees nothing: white space, controls, and characters that have no glyph. A joiner inside of an
    /// emoji is one of these, the emoji is not.
    var isBlank: Bool {
        unicodeScalars.allSatisfy { $0.isSpace || $0.properties.isDefaultIgnorableCodePoint || $0.isEmptySign }
    }

    /// The text in one line, without characters that are hidden or that reverse the direction of what follows: two names
    /// that differ only in these look like one.
    var plainLine: String {
        var line = String.UnicodeScalarView()
        var isAfterSpace = false
        for scalar in unicodeScalars where !scalar.isHidden {
            if !scalar.isSpace {
                if isAfterSpace, !line.isEmpty { line.append(" ") }
                line.append(scalar)
            }
            isAfterSpace = scalar.isSpace
        }
        return String(line)
    }
}

extension Unicode.Scalar {
    var isLetter: Bool {
        switch properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: true
        default: false
        }
    }

    fileprivate var isSpace: Bool { properties.isWhitespace || properties.generalCategory == .control }

    fileprivate var isHidden: Bool {
        if isAnnotationMark || properties.isBidiControl { return true }
        return properties.isDefaultIgnorableCodePoint && !isShaping
    }

    /// The empty pattern of Braille, the empty note head, and the marks of an annotation.
    fileprivate var isEmptySign: Bool { value == 0x2800 || value == 0x1D159 || isAnnotationMark }

    private var isAnnotationMark: Bool { (0xFFF9...0xFFFB).contains(value) }

    /// Shows nothing, and shapes what is beside it: joiners, variation selectors, and the tags of flags.
    private var isShaping: Bool {
        switch value {
        case 0x200C, 0x200D, 0xFE00...0xFE0F, 0xE0020...0xE007F, 0xE0100...0xE01EF: true
        default: false
        }
    }
}
