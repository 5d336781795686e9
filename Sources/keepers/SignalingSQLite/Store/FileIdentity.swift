import CSQLite

/// What tells a file from each copy of it: its number in the file system, and when it was created. Both stay when the
/// machine starts again, and when the file moves within its file system.
///
/// Not the device, whose number may be another one after each start of the machine.
struct FileIdentity: Hashable {
    let number: UInt64
    /// In nanoseconds since 1970.
    let created: Int64

    init(number: UInt64, created: Int64) {
        self.number = number
        self.created = created
    }

    /// `nil` if the file system has no times of creation, or the file cannot be looked at.
    init?(path: String) {
        var (number, created): (UInt64, Int64) = (0, 0)
        guard signalbox_file_identity(path, &number, &created) != 0 else { return nil }
        self.init(number: number, created: created)
    }
}
