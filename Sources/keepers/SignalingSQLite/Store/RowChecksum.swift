/// A checksum over a row's values, kept with the row. It finds changed bytes in the file, which SQLite itself finds in
/// the structure of its pages only. It is not a protection against an attacker, who could compute it too.
struct RowChecksum {
    private var state: UInt64 = 0x9E37_79B9_7F4A_7C15

    /// As SQLite keeps it.
    var value: Int64 { Int64(bitPattern: state) }

    mutating func add(_ number: Int64) { mix(UInt64(bitPattern: number)) }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        mix(UInt64(bytes.count))
        var offset = 0
        while offset + 8 <= bytes.count {
            mix(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset += 8
        }
        guard offset < bytes.count else { return }
        var rest: UInt64 = 0
        for byte in bytes[offset...] { rest = rest << 8 | UInt64(byte) }
        mix(rest)
    }

    /// Every step is a bijection of the state, so two rows that differ in one number have different checksums.
    private mutating func mix(_ number: UInt64) {
        state = (state ^ number) &* 0xBF58_476D_1CE4_E5B9
        state ^= state >> 29
    }
}
