import CSQLite

/// The file of the write-ahead log, behind the end of the log itself. SQLite ignores what is there. Only the connection
/// that writes to the database may use this, between its transactions.
extension Database {
    /// The bytes that the log has after the last commit of this connection (https://sqlite.org/fileformat2.html#walformat).
    func logByteCount() throws(DatabaseError) -> Int64 {
        let pageByteCount = try integer("PRAGMA page_size")
        return 32 + Int64(logPageCount) * (24 + pageByteCount)
    }

    func logFileByteCount() throws(DatabaseError) -> Int64 {
        var count: sqlite3_int64 = 0
        let file = try logFile()
        try check(file.pointee.pMethods.pointee.xFileSize(file, &count))
        return count
    }

    /// Replaces a part of the file with zeros.
    func overwriteLog(_ part: Range<Int64>) throws(DatabaseError) {
        let file = try logFile()
        // The largest page: SQLite's files take no larger writes.
        let zeros = [UInt8](repeating: 0, count: 65_536)
        try zeros.withBytes { (bytes) throws(DatabaseError) in
            for start in stride(from: part.lowerBound, to: part.upperBound, by: bytes.count) {
                let count = Int32(min(Int64(bytes.count), part.upperBound - start))
                try check(file.pointee.pMethods.pointee.xWrite(file, bytes.baseAddress, count, start))
            }
        }
    }

    private func logFile() throws(DatabaseError) -> UnsafeMutablePointer<sqlite3_file> {
        var file: UnsafeMutablePointer<sqlite3_file>?
        try check(sqlite3_file_control(connection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file))
        guard let file, file.pointee.pMethods != nil else {
            throw DatabaseError(code: SQLITE_IOERR, text: "the write-ahead log is not open")
        }
        return file
    }

    private func check(_ code: Int32) throws(DatabaseError) {
        guard code == SQLITE_OK else { throw DatabaseError(code: code, text: String(cString: sqlite3_errstr(code))) }
    }
}
