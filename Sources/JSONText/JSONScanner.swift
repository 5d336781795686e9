/// The grammar of RFC 8259, checked byte by byte before json-c sees the text.
///
/// json-c's strict mode lets through what the protocol forbids (single quotes, `NaN`, raw control characters, `1.`, overlong
/// UTF-8, numbers that it clamps, lone surrogates, duplicate names), and cuts names at NUL. Nothing is built here,
/// and each byte is looked at once.
struct JSONScanner {
    private let bytes: UnsafeRawBufferPointer
    private let maximumDepth: Int
    /// Whether names are decoded and compared. Costs memory, so it is done only once a duplicate is known to be there.
    private let comparesNames: Bool
    private var place = 0

    /// How many members all objects have together, duplicates counted.
    private(set) var memberCount = 0

    init(_ bytes: UnsafeRawBufferPointer, maximumDepth: Int, comparesNames: Bool = false) {
        self.bytes = bytes
        self.maximumDepth = maximumDepth
        self.comparesNames = comparesNames
    }

    /// Reads one whole text.
    mutating func scan() throws(JSONError) {
        try skipSpace()
        guard place < bytes.count else { throw JSONError(.emptyInput, at: bytes.count) }
        try value(depth: 0)
        try skipSpace()
        guard place == bytes.count else { throw JSONError(.trailingBytes, at: place) }
    }

    /// `depth` is how many containers are open around the value; it bounds the recursion.
    private mutating func value(depth: Int) throws(JSONError) {
        guard place < bytes.count else { throw JSONError(.unexpectedEnd, at: place) }
        switch bytes[place] {
        case UInt8(ascii: "\""): _ = try string(isName: false)
        case UInt8(ascii: "{"): try object(depth: depth)
        case UInt8(ascii: "["): try array(depth: depth)
        case UInt8(ascii: "t"): try literal("true")
        case UInt8(ascii: "f"): try literal("false")
        case UInt8(ascii: "n"): try literal("null")
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
        case UInt8(ascii: "+"), UInt8(ascii: "."): throw JSONError(.malformedNumber, at: place)
        case UInt8(ascii: "'"): throw JSONError(.singleQuote, at: place)
        case UInt8(ascii: "N") where starts(with: "NaN", at: place),
            UInt8(ascii: "I") where starts(with: "Infinity", at: place):
            throw JSONError(.nonFiniteNumber, at: place)
        default: throw JSONError(.unexpectedCharacter, at: place)
        }
    }

    private mutating func array(depth: Int) throws(JSONError) {
        guard depth < maximumDepth else { throw JSONError(.tooDeep, at: place) }
        place += 1
        try skipSpace()
        if take(UInt8(ascii: "]")) { return }
        while true {
            try value(depth: depth + 1)
            try skipSpace()
            if take(UInt8(ascii: "]")) { return }
            try expect(UInt8(ascii: ","))
            try skipSpace()
        }
    }

    private mutating func object(depth: Int) throws(JSONError) {
        guard depth < maximumDepth else { throw JSONError(.tooDeep, at: place) }
        var names: Set<ExactName> = []
        place += 1
        try skipSpace()
        if take(UInt8(ascii: "}")) { return }
        while true {
            guard place < bytes.count else { throw JSONError(.unexpectedEnd, at: place) }
            guard bytes[place] != UInt8(ascii: "'") else { throw JSONError(.singleQuote, at: place) }
            guard bytes[place] == UInt8(ascii: "\"") else { throw JSONError(.unexpectedCharacter, at: place) }
            let start = place
            let content = try string(isName: true)
            memberCount += 1
            if comparesNames, !names.insert(ExactName(text: JSONUnescaping.text(bytes, in: content))).inserted {
                throw JSONError(.duplicateName, at: start)
            }
            try skipSpace()
            try expect(UInt8(ascii: ":"))
            try skipSpace()
            try value(depth: depth + 1)
            try skipSpace()
            if take(UInt8(ascii: "}")) { return }
            try expect(UInt8(ascii: ","))
            try skipSpace()
        }
    }

    private mutating func literal(_ text: StaticString) throws(JSONError) {
        for step in 0..<text.utf8CodeUnitCount {
            guard place < bytes.count else { throw JSONError(.unexpectedEnd, at: place) }
            guard bytes[place] == text.utf8Start[step] else { throw JSONError(.unexpectedCharacter, at: place) }
            place += 1
        }
    }

    /// Returns where the string's content stands, without its quotes.
    private mutating func string(isName: Bool) throws(JSONError) -> Range<Int> {
        let start = place + 1
        place = start
        while place < bytes.count {
            switch bytes[place] {
            case UInt8(ascii: "\""):
                place += 1
                return start..<place - 1
            case UInt8(ascii: "\\"): try escape(isName: isName)
            case 0x00...0x1F: throw JSONError(.controlCharacter, at: place)
            case 0x80...0xFF: try character()
            default: place += 1
            }
        }
        throw JSONError(.unexpectedEnd, at: place)
    }

    private mutating func escape(isName: Bool) throws(JSONError) {
        let start = place
        guard start + 1 < bytes.count else { throw JSONError(.unexpectedEnd, at: bytes.count) }
        switch bytes[start + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            place = start + 2
        case UInt8(ascii: "u"):
            let unit = try codeUnit(at: start)
            place = start + 6
            switch unit {
            case 0 where isName: throw JSONError(.nulInName, at: start)
            case 0xDC00...0xDFFF: throw JSONError(.loneSurrogate, at: start)
            case 0xD800...0xDBFF:
                guard starts(with: "\\u", at: place) else {
                    throw place < bytes.count
                        ? JSONError(.loneSurrogate, at: start) : JSONError(.unexpectedEnd, at: place)
                }
                guard case 0xDC00...0xDFFF = try codeUnit(at: place) else { throw JSONError(.loneSurrogate, at: start) }
                place += 6
            default: break
            }
        default: throw JSONError(.badEscape, at: start)
        }
    }

    /// The four hex digits of the `\u` escape that begins at `start`.
    private func codeUnit(at start: Int) throws(JSONError) -> UInt32 {
        var unit: UInt32 = 0
        for digitPlace in start + 2..<start + 6 {
            guard digitPlace < bytes.count else { throw JSONError(.unexpectedEnd, at: bytes.count) }
            guard let digit = JSONUnescaping.hexDigit(bytes[digitPlace]) else { throw JSONError(.badEscape, at: start) }
            unit = unit << 4 | digit
        }
        return unit
    }

    /// One character outside ASCII: the well-formed sequences of the Unicode Standard, table 3-7.
    private mutating func character() throws(JSONError) {
        let start = place
        let second: ClosedRange<UInt8>
        let length: Int
        switch bytes[start] {
        case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: (length, second) = (3, 0x80...0xBF)
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: throw JSONError(.invalidUTF8, at: start)
        }
        guard length <= bytes.count - start, second.contains(bytes[start + 1]) else {
            throw JSONError(.invalidUTF8, at: start)
        }
        for step in 2..<max(length, 2) where bytes[start + step] & 0xC0 != 0x80 {
            throw JSONError(.invalidUTF8, at: start)
        }
        place = start + length
    }

    private mutating func number() throws(JSONError) {
        let start = place
        let isNegative = take(UInt8(ascii: "-"))
        if isNegative, starts(with: "Infinity", at: place) || starts(with: "NaN", at: place) {
            throw JSONError(.nonFiniteNumber, at: start)
        }
        let leading = place
        var magnitude: UInt64 = 0
        var fitsInteger = true
        while place < bytes.count, case let digit = bytes[place] &- UInt8(ascii: "0"), digit < 10 {
            let (tens, overflow) = magnitude.multipliedReportingOverflow(by: 10)
            let (sum, carry) = tens.addingReportingOverflow(UInt64(digit))
            fitsInteger = fitsInteger && !overflow && !carry
            magnitude = sum
            place += 1
        }
        guard place > leading else { throw JSONError(.malformedNumber, at: place) }
        guard place == leading + 1 || bytes[leading] != UInt8(ascii: "0") else {
            throw JSONError(.malformedNumber, at: leading)
        }
        var isInteger = true
        if take(UInt8(ascii: ".")) {
            isInteger = false
            try digits()
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            isInteger = false
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits()
        }
        if isInteger {
            guard fitsInteger, magnitude <= UInt64(Int64.max) + (isNegative ? 1 : 0) else {
                throw JSONError(.numberOutOfRange, at: start)
            }
        } else {
            let text = String(decoding: bytes[start..<place], as: UTF8.self)
            guard let number = Double(text), number.isFinite else { throw JSONError(.numberOutOfRange, at: start) }
        }
    }

    /// One or more digits.
    private mutating func digits() throws(JSONError) {
        let start = place
        while place < bytes.count, bytes[place] &- UInt8(ascii: "0") < 10 { place += 1 }
        guard place > start else { throw JSONError(.malformedNumber, at: place) }
    }

    private mutating func skipSpace() throws(JSONError) {
        while place < bytes.count {
            switch bytes[place] {
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): place += 1
            case UInt8(ascii: "/") where starts(with: "//", at: place) || starts(with: "/*", at: place):
                throw JSONError(.comment, at: place)
            default: return
            }
        }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard place < bytes.count, bytes[place] == byte else { return false }
        place += 1
        return true
    }

    private mutating func expect(_ byte: UInt8) throws(JSONError) {
        guard place < bytes.count else { throw JSONError(.unexpectedEnd, at: place) }
        guard take(byte) else { throw JSONError(.unexpectedCharacter, at: place) }
    }

    private func starts(with text: StaticString, at start: Int) -> Bool {
        guard text.utf8CodeUnitCount <= bytes.count - start else { return false }
        for step in 0..<text.utf8CodeUnitCount where bytes[start + step] != text.utf8Start[step] { return false }
        return true
    }
}
