/// A QR code for a short text such as a link (ISO/IEC 18004): bytes, error correction level L, versions 1 to 5.
///
/// Made here rather than by a library: these versions have one block of codewords, so the whole code is shorter than what
/// another dependency asks of every installation.
package struct QRCode {
    /// The number of modules in a row.
    package let size: Int
    /// Whether the module is dark, by row and column.
    package private(set) var modules: [[Bool]]
    /// Modules that are no data: they are not masked.
    private var fixed: [[Bool]]

    /// For versions 1 to 5: how many codewords are data, and how many correct errors.
    private static let capacities = [(19, 7), (34, 10), (55, 15), (80, 20), (108, 26)]

    /// - Returns: nil for a text of more than 106 bytes.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        // A mode of 4 bits and a count of 8.
        guard let index = Self.capacities.firstIndex(where: { $0.0 >= bytes.count + 2 }) else { return nil }
        let (dataCount, checkCount) = Self.capacities[index]
        let data = Self.codewords(bytes, count: dataCount)
        size = 21 + 4 * index
        modules = Array(repeating: Array(repeating: false, count: size), count: size)
        fixed = modules
        drawPatterns()
        draw(data + ReedSolomon.remainder(of: data, count: checkCount))
        let masked = (0..<8).map { mask in
            var code = self
            code.apply(mask)
            return code
        }
        if let best = masked.min(by: { $0.penalty < $1.penalty }) { modules = best.modules }
    }

    private static func codewords(_ bytes: [UInt8], count: Int) -> [UInt8] {
        var bits: [Bool] = []
        func append(_ value: Int, _ width: Int) {
            for bit in (0..<width).reversed() { bits.append(value >> bit & 1 == 1) }
        }
        append(0b0100, 4)
        append(bytes.count, 8)
        for byte in bytes { append(Int(byte), 8) }
        append(0, 4)
        var words = stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
        }
        for pad in 0..<(count - words.count) { words.append(pad.isMultiple(of: 2) ? 0xEC : 0x11) }
        return words
    }

    // MARK: - Patterns

    private mutating func set(_ row: Int, _ column: Int, _ isDark: Bool) {
        modules[row][column] = isDark
        fixed[row][column] = true
    }

    private mutating func drawPatterns() {
        for index in 0..<size {
            set(6, index, index.isMultiple(of: 2))
            set(index, 6, index.isMultiple(of: 2))
        }
        for (row, column) in [(3, 3), (3, size - 4), (size - 4, 3)] { drawSquares(row, column, radius: 4) }
        if size > 21 { drawSquares(size - 7, size - 7, radius: 2) }
        drawFormat(mask: 0)
    }

    /// A finder with its light frame (radius 4), or an alignment pattern (radius 2).
    private mutating func drawSquares(_ row: Int, _ column: Int, radius: Int) {
        for y in -radius...radius {
            for x in -radius...radius where modules.indices.contains(row + y) && modules.indices.contains(column + x) {
                let distance = max(abs(x), abs(y))
                set(row + y, column + x, radius == 4 ? distance != 2 && distance != 4 : distance != 1)
            }
        }
    }

    /// Twice: the level and the mask, with ten bits that correct errors.
    private mutating func drawFormat(mask: Int) {
        let data = 0b01 << 3 | mask
        var remainder = data << 10
        for bit in (10..<15).reversed() where remainder >> bit & 1 == 1 { remainder ^= 0x537 << (bit - 10) }
        let format = (data << 10 | remainder) ^ 0x5412
        for bit in 0..<15 {
            let isDark = format >> bit & 1 == 1
            switch bit {
            case ..<6: set(bit, 8, isDark)
            case 6: set(7, 8, isDark)
            case 7: set(8, 8, isDark)
            case 8: set(8, 7, isDark)
            default: set(8, 14 - bit, isDark)
            }
            if bit < 8 { set(8, size - 1 - bit, isDark) } else { set(size - 15 + bit, 8, isDark) }
        }
        set(size - 8, 8, true)
    }

    // MARK: - Data

    /// In columns of two from the right, upwards and downwards in turn.
    private mutating func draw(_ codewords: [UInt8]) {
        var bits = codewords.lazy.flatMap { byte in (0..<8).reversed().map { byte >> $0 & 1 == 1 } }.makeIterator()
        var isUpward = true
        for right in stride(from: size - 1, to: 0, by: -2).map({ $0 <= 6 ? $0 - 1 : $0 }) {
            for step in 0..<size {
                let row = isUpward ? size - 1 - step : step
                for column in [right, right - 1] where !fixed[row][column] {
                    // The modules that remain are light.
                    modules[row][column] = bits.next() ?? false
                }
            }
            isUpward.toggle()
        }
    }

    private mutating func apply(_ mask: Int) {
        for row in 0..<size {
            for column in 0..<size where !fixed[row][column] && Self.inverts(mask, row, column) {
                modules[row][column].toggle()
            }
        }
        drawFormat(mask: mask)
    }

    private static func inverts(_ mask: Int, _ row: Int, _ column: Int) -> Bool {
        switch mask {
        case 0: (row + column).isMultiple(of: 2)
        case 1: row.isMultiple(of: 2)
        case 2: column.isMultiple(of: 3)
        case 3: (row + column).isMultiple(of: 3)
        case 4: (row / 2 + column / 3).isMultiple(of: 2)
        case 5: row * column % 2 + row * column % 3 == 0
        case 6: (row * column % 2 + row * column % 3).isMultiple(of: 2)
        default: ((row + column) % 2 + row * column % 3).isMultiple(of: 2)
        }
    }

    /// What makes a code hard to read: long runs, squares of one colour, and more of one colour than of the other.
    private var penalty: Int {
        var penalty = 0
        let columns = (0..<size).map { column in modules.map { $0[column] } }
        for line in modules + columns {
            for run in line.split(separator: true).map(\.count) + line.split(separator: false).map(\.count)
            where run >= 5 { penalty += run - 2 }
        }
        for row in 1..<size {
            for column in 1..<size {
                let isDark = modules[row][column]
                if modules[row - 1][column] == isDark, modules[row][column - 1] == isDark,
                    modules[row - 1][column - 1] == isDark
                {
                    penalty += 3
                }
            }
        }
        let dark = modules.joined().count { $0 }
        return penalty + abs(dark * 20 - size * size * 10) / (size * size) * 10
    }

    // MARK: - Text

    /// Two rows in a line of half blocks, in a light frame of four modules, which readers need.
    ///
    /// - Parameter hasColours: dark on light whatever the colours of the terminal are. Without them, a dark terminal shows
    ///   the code inverted.
    package func lines(hasColours: Bool) -> [String] {
        let frame = 4
        func isDark(_ row: Int, _ column: Int) -> Bool {
            modules.indices.contains(row) && modules.indices.contains(column) && modules[row][column]
        }
        return stride(from: -frame, to: size + frame, by: 2).map { row in
            let text = (-frame..<size + frame).map { column in
                switch (isDark(row, column), isDark(row + 1, column)) {
                case (true, true): "\u{2588}"
                case (true, false): "\u{2580}"
                case (false, true): "\u{2584}"
                case (false, false): " "
                }
            }.joined()
            return hasColours ? "\u{1B}[38;5;16;48;5;231m\(text)\u{1B}[0m" : text
        }
    }
}

/// The codewords that let a reader correct errors.
private enum ReedSolomon {
    static func remainder(of data: [UInt8], count: Int) -> [UInt8] {
        let divisor = divisor(count)
        var result = [UInt8](repeating: 0, count: count)
        for byte in data {
            let factor = byte ^ result.removeFirst()
            result.append(0)
            for index in result.indices { result[index] ^= product(divisor[index], factor) }
        }
        return result
    }

    /// (x - 1)(x - 2)(x - 4)… without its first coefficient, which is 1.
    private static func divisor(_ count: Int) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: count)
        result[count - 1] = 1
        var root: UInt8 = 1
        for _ in 0..<count {
            for index in 0..<count {
                result[index] = product(result[index], root) ^ (index + 1 < count ? result[index + 1] : 0)
            }
            root = product(root, 2)
        }
        return result
    }

    /// In the field of 256 elements with the polynomial 0x11D.
    private static func product(_ first: UInt8, _ second: UInt8) -> UInt8 {
        var result = 0
        for bit in (0..<8).reversed() {
            result = result << 1 ^ (result >> 7) * 0x11D
            result ^= Int(second >> bit & 1) * Int(first)
        }
        return UInt8(result)
    }
}
