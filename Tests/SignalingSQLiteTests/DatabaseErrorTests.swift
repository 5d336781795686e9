import CSQLite
import Testing

@testable import SignalingSQLite

@Suite("The errors of SQLite")
struct DatabaseErrorTests {
    @Test(
        "LOG-23: after a full disk and a lock a transaction can be repeated, and after no other error",
        arguments: [
            (SQLITE_FULL, .full), (SQLITE_BUSY, .busy), (SQLITE_LOCKED, .busy), (SQLITE_BUSY | 1 << 8, .busy),
            (SQLITE_CORRUPT, .damaged), (SQLITE_NOTADB, .damaged), (SQLITE_ERROR, .damaged),
            (SQLITE_TOOBIG, .damaged), (SQLITE_IOERR, .inputOutput), (SQLITE_IOERR | 4 << 8, .inputOutput),
            (SQLITE_READONLY, .inputOutput), (SQLITE_CANTOPEN, .inputOutput), (SQLITE_NOMEM, .inputOutput),
            (9_999, .inputOutput),
        ] as [(Int32, DatabaseError.Kind)])
    func kinds(_ code: Int32, _ kind: DatabaseError.Kind) {
        #expect(DatabaseError(code: code, text: "").kind == kind)
    }
}
