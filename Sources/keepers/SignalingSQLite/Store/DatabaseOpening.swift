import Logging
import SignalingCore

extension Database {
    /// Opens a database and reads it. A database that cannot be used is renamed, and a new one is created.
    ///
    /// - Parameters:
    ///   - consequence: of the renaming, as the beginning of a log line.
    ///   - salvage: reads what it can of a damaged database, before the renaming.
    ///   - read: reads what its caller needs, and throws `damaged` for what it cannot use.
    static func openOrSetAside<Content>(
        _ files: DatabaseFiles, _ schema: DatabaseSchema, _ logger: Logger, consequence: String,
        salvage: (Database) -> Void = { _ in }, read: (Database) throws(DatabaseError) -> Content
    ) throws(CommandLogFault) -> (Database, Content) {
        try files.prepare()
        let fault: CommandLogFault
        do throws(DatabaseError) {
            let database = try Database.open(files, schema)
            if let version = try database.laterVersion(than: schema) {
                fault = CommandLogFault(.laterVersion, "a later version of Signalbox wrote it (version \(version))")
            } else {
                try database.checkSchema(schema)
                try database.useWriteAheadLog()
                try database.migrate(to: schema)
                let content = try read(database)
                database.setKeepsLogOnClose(false)
                return (database, content)
            }
        } catch {
            guard error.kind == .damaged else { throw files.openingFault(error) }
            fault = CommandLogFault(.damaged, "it is damaged: \(error)")
        }
        if fault.code == .damaged { self.salvage(files, schema, salvage) }
        try files.setAside(for: fault, logger, consequence: consequence)
        try files.prepare()
        do throws(DatabaseError) {
            let database = try Database.open(files, schema)
            try database.useWriteAheadLog()
            database.setKeepsLogOnClose(false)
            return (database, try read(database))
        } catch {
            throw files.openingFault(error)
        }
    }

    /// Opens a damaged database once more, if its tables are those of the schema.
    private static func salvage(_ files: DatabaseFiles, _ schema: DatabaseSchema, _ salvage: (Database) -> Void) {
        guard let database = try? Database.open(files, schema), (try? database.checkSchema(schema)) != nil else {
            return
        }
        salvage(database)
    }
}
