import CSQLite

/// The version of SQLite that the process uses.
public enum SQLiteVersion {
    public static var text: String { String(cString: sqlite3_libversion()) }
}
