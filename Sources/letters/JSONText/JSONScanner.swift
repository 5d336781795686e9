/// Checks the grammar of RFC 8259 byte by byte, reads each byte once, and gives what it reads to its sink.
struct JSONScanner<Sink: JSONSink> {
    private let bytes: UnsafeRawBufferPointer
    private let limits: JSONLimits
    /// The offset of the next byte to read.
    private var offset = 0

    /// The number of members of all objects together, duplicates included.
    private(set) var memberCount = 0
    /// The number of values so far, containers included.
    private var valueCount = 0
    /// The offset of the first name that its object has already. A fault of the grammar behind it is reported instead.
    private var duplicateOffset: Int?

    init(_ bytes: UnsafeRawBufferPointer, limits: JSONLimits) {
        self.bytes = bytes
        self.limits = limits
    }

    /// Reads one whole text.
    mutating func scan() throws(JSONError) -> Sink.Value {
        try skipSpace()
        guard offset < bytes.count else { throw JSONError(.emptyInput, at: bytes.count) }
        let value = try value(depth: 0)
        try skipSpace()
        guard offset == bytes.count else { throw JSONError(.trailingBytes, at: offset) }
        if let duplicateOffset { throw JSONError(.duplicateName, at: duplicateOffset) }
        return value
    }

    /// - Parameter depth: how many containers are open around the value. It bounds the recursion.
    private mutating func value(depth: Int) throws(JSONError) -> Sink.Value {
        guard offset < bytes.count else { throw JSONError(.unexpectedEnd, at: offset) }
        valueCount += 1
        guard valueCount <= limits.valueCount else { throw JSONError(.tooManyValues, at: offset) }
        switch bytes[offset] {
        case UInt8(ascii: "\""):
            let (content, hasEscapes) = try string(isName: false)
            return Sink.string(content, hasEscapes: hasEscapes)
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "t"):
            try literal("true")
            return Sink.bool(true)
        case UInt8(ascii: "f"):
            try literal("false")
            return Sink.bool(false)
        case UInt8(ascii: "n"):
            try literal("null")
            return Sink.null()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        case UInt8(ascii: "+"), UInt8(ascii: "."): throw JSONError(.malformedNumber, at: offset)
        case UInt8(ascii: "'"): throw JSONError(.singleQuote, at: offset)
        case UInt8(ascii: "N") where starts(with: "NaN", at: offset),
            UInt8(ascii: "I") where starts(with: "Infinity", at: offset):
            throw JSONError(.nonFiniteNumber, at: offset)
        default: throw JSONError(.unexpectedCharacter, at: offset)
        }
    }

    private mutating func array(depth: Int) throws(JSONError) -> Sink.Value {
        guard depth < limits.depth else { throw JSONError(.tooDeep, at: offset) }
        var elements = Sink.noElements()
        offset += 1
        try skipSpace()
        if consume(UInt8(ascii: "]")) { return Sink.array(elements) }
        while true {
            Sink.add(try value(depth: depth + 1), to: &elements)
            try skipSpace()
            if consume(UInt8(ascii: "]")) { return Sink.array(elements) }
            try expect(UInt8(ascii: ","))
            try skipSpace()
        }
    }

    private mutating func object(depth: Int) throws(JSONError) -> Sink.Value {
        guard depth < limits.depth else { throw JSONError(.tooDeep, at: offset) }
        var members = Sink.noMembers()
        offset += 1
        try skipSpace()
        if consume(UInt8(ascii: "}")) { return Sink.object(members) }
        while true {
            guard offset < bytes.count else { throw JSONError(.unexpectedEnd, at: offset) }
            guard bytes[offset] != UInt8(ascii: "'") else { throw JSONError(.singleQuote, at: offset) }
            guard bytes[offset] == UInt8(ascii: "\"") else { throw JSONError(.unexpectedCharacter, at: offset) }
            let start = offset
            let (content, hasEscapes) = try string(isName: true)
            let name = Sink.name(content, hasEscapes: hasEscapes)
            if Sink.has(name, in: members), duplicateOffset == nil { duplicateOffset = start }
            memberCount += 1
            try skipSpace()
            try expect(UInt8(ascii: ":"))
            try skipSpace()
            Sink.add(name, try value(depth: depth + 1), to: &members)
            try skipSpace()
            if consume(UInt8(ascii: "}")) { return Sink.object(members) }
            try expect(UInt8(ascii: ","))
            try skipSpace()
        }
    }

    private mutating func literal(_ text: StaticString) throws(JSONError) {
        for step in 0..<text.utf8CodeUnitCount {
            guard offset < bytes.count else { throw JSONError(.unexpectedEnd, at: offset) }
            guard bytes[offset] == text.utf8Start[step] else { throw JSONError(.unexpectedCharacter, at: offset) }
            offset += 1
        }
    }

    /// Checks a string and returns its content, without the quotes.
    private mutating func string(
        isName: Bool
    ) throws(JSONError) -> (content: UnsafeRawBufferPointer, hasEscapes: Bool) {
        let start = offset + 1
        var hasEscapes = false
        offset = start
        while true {
            offset = PlainBytes.end(in: bytes, from: offset, asciiOnly: true)
            guard offset < bytes.count else { break }
            switch bytes[offset] {
            case UInt8(ascii: "\""):
                offset += 1
                return (UnsafeRawBufferPointer(rebasing: bytes[start..<offset - 1]), hasEscapes)
            case UInt8(ascii: "\\"):
                hasEscapes = true
                try escape(isName: isName)
            case 0x00...0x1F: throw JSONError(.controlCharacter, at: offset)
            default: try character()
            }
        }
        throw JSONError(.unexpectedEnd, at: offset)
    }

    private mutating func escape(isName: Bool) throws(JSONError) {
        let start = offset
        guard start + 1 < bytes.count else { throw JSONError(.unexpectedEnd, at: bytes.count) }
        switch bytes[start + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            offset = start + 2
        case UInt8(ascii: "u"):
            let unit = try codeUnit(at: start)
            offset = start + 6
            switch unit {
            case 0 where isName: throw JSONError(.nulInName, at: start)
            case 0xDC00...0xDFFF: throw JSONError(.loneSurrogate, at: start)
            case 0xD800...0xDBFF:
                guard starts(with: "\\u", at: offset) else {
                    throw offset < bytes.count
                        ? JSONError(.loneSurrogate, at: start) : JSONError(.unexpectedEnd, at: offset)
                }
                guard case 0xDC00...0xDFFF = try codeUnit(at: offset) else {
                    throw JSONError(.loneSurrogate, at: start)
                }
                offset += 6
            default: break
            }
        default: throw JSONError(.badEscape, at: start)
        }
    }

    /// The code unit of the `\u` escape that begins at `start`.
    private func codeUnit(at start: Int) throws(JSONError) -> UInt32 {
        var unit: UInt32 = 0
        for digitOffset in start + 2..<start + 6 {
            guard digitOffset < bytes.count else { throw JSONError(.unexpectedEnd, at: bytes.count) }
            guard let digit = JSONUnescaping.hexDigit(bytes[digitOffset]) else {
                throw JSONError(.badEscape, at: start)
            }
            unit = unit << 4 | digit
        }
        return unit
    }

    /// Checks one character outside of ASCII: the well-formed sequences of the Unicode Standard, table 3-7.
    private mutating func character() throws(JSONError) {
        let start = offset
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
        offset = start + length
    }

    private mutating func number() throws(JSONError) -> Sink.Value {
        let start = offset
        let isNegative = consume(UInt8(ascii: "-"))
        if isNegative, starts(with: "Infinity", at: offset) || starts(with: "NaN", at: offset) {
            throw JSONError(.nonFiniteNumber, at: start)
        }
        let leading = offset
        var magnitude: UInt64 = 0
        var fitsInteger = true
        while offset < bytes.count, case let digit = bytes[offset] &- UInt8(ascii: "0"), digit < 10 {
            let (tens, overflow) = magnitude.multipliedReportingOverflow(by: 10)
            let (sum, carry) = tens.addingReportingOverflow(UInt64(digit))
            fitsInteger = fitsInteger && !overflow && !carry
            magnitude = sum
            offset += 1
        }
        guard offset > leading else { throw JSONError(.malformedNumber, at: offset) }
        guard offset == leading + 1 || bytes[leading] != UInt8(ascii: "0") else {
            throw JSONError(.malformedNumber, at: leading)
        }
        var isInteger = true
        if consume(UInt8(ascii: ".")) {
            isInteger = false
            try digits()
        }
        if consume(UInt8(ascii: "e")) || consume(UInt8(ascii: "E")) {
            isInteger = false
            if !consume(UInt8(ascii: "+")) { _ = consume(UInt8(ascii: "-")) }
            try digits()
        }
        if isInteger {
            guard fitsInteger, magnitude <= UInt64(Int64.max) + (isNegative ? 1 : 0) else {
                throw JSONError(.numberOutOfRange, at: start)
            }
            return Sink.integer(Int64(truncatingIfNeeded: isNegative ? 0 &- magnitude : magnitude))
        }
        let text = String(decoding: UnsafeRawBufferPointer(rebasing: bytes[start..<offset]), as: UTF8.self)
        guard let number = Double(text), number.isFinite else { throw JSONError(.numberOutOfRange, at: start) }
        return Sink.double(number)
    }

    /// Checks one or more digits.
    private mutating func digits() throws(JSONError) {
        let start = offset
        while offset < bytes.count, bytes[offset] &- UInt8(ascii: "0") < 10 { offset += 1 }
        guard offset > start else { throw JSONError(.malformedNumber, at: offset) }
    }

    private mutating func skipSpace() throws(JSONError) {
        while offset < bytes.count {
            switch bytes[offset] {
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): offset += 1
            case UInt8(ascii: "/") where starts(with: "//", at: offset) || starts(with: "/*", at: offset):
                throw JSONError(.comment, at: offset)
            default: return
            }
        }
    }

    /// Consumes the next byte if it is this one.
    private mutating func consume(_ byte: UInt8) -> Bool {
        guard offset < bytes.count, bytes[offset] == byte else { return false }
        offset += 1
        return true
    }

    private mutating func expect(_ byte: UInt8) throws(JSONError) {
        guard offset < bytes.count else { throw JSONError(.unexpectedEnd, at: offset) }
        guard consume(byte) else { throw JSONError(.unexpectedCharacter, at: offset) }
    }

    private func starts(with text: StaticString, at start: Int) -> Bool {
        guard text.utf8CodeUnitCount <= bytes.count - start else { return false }
        for step in 0..<text.utf8CodeUnitCount where bytes[start + step] != text.utf8Start[step] { return false }
        return true
    }
}
