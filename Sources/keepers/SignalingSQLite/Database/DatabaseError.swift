import CSQLite
import Glibc

/// Why SQLite could not execute a call.
struct DatabaseError: Error, Sendable, CustomStringConvertible {
    /// The reaction that a failure calls for.
    enum Kind: Sendable {
        /// The disk or the quota is full. The transaction can be repeated when there is room.
        case full
        /// Another program holds a lock on the database. The transaction can be repeated.
        case busy
        /// The file is not a database, or its content contradicts itself.
        case damaged
        /// Reading, writing or synchronizing failed. A repeated fsync may succeed without having written the data, so
        /// nothing may be repeated.
        case inputOutput
    }

    let kind: Kind
    /// SQLite's extended result code (https://www.sqlite.org/rescode.html).
    let code: Int32
    /// SQLite's text and, for an error of the system, the system's text.
    let text: String

    init(code: Int32, text: String) {
        self.code = code
        self.text = text
        switch code & 0xff {
        case SQLITE_FULL: kind = .full
        case SQLITE_BUSY, SQLITE_LOCKED: kind = .busy
        // SQLITE_ERROR: the tables are not those that the statements expect. SQLITE_TOOBIG: a value is larger than
        // those that this program writes.
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR, SQLITE_TOOBIG: kind = .damaged
        default: kind = .inputOutput
        }
    }

    /// A contradiction that the reader of the content finds, and SQLite does not.
    init(damaged text: String) { self.init(code: SQLITE_CORRUPT, text: text) }

    var description: String { "\(text) (SQLite code \(code))" }

    /// The last error of a connection, before another call replaces it.
    static func last(of connection: OpaquePointer?, code: Int32) -> DatabaseError {
        var text = String(cString: sqlite3_errstr(code))
        if let connection {
            let detail = String(cString: sqlite3_errmsg(connection))
            if detail != text { text += ": \(detail)" }
            let system = sqlite3_system_errno(connection)
            if system != 0, code & 0xff != SQLITE_CORRUPT { text += ": \(String(cString: strerror(system)))" }
        }
        return DatabaseError(code: code, text: text)
    }
}
