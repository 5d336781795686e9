import FoundationEssentials
import Glibc
import SignalingCore

extension SQLiteCommandLog {
    /// What ``restore(_:to:decode:install:)`` has done.
    public struct RestoreReport: Sendable {
        /// What the backup has. Its sessions begin new epochs.
        public let backup: CheckReport
        /// The folder with the databases that were in the place of the backup; `nil` if there were none.
        public let replaced: String?
    }

    /// Puts a backup into a state folder that no server uses: the sessions and the history, or nothing.
    ///
    /// - Parameters:
    ///   - file: the backup of the sessions. The one of the history has the same name with `.history` behind it.
    ///   - folder: exists. What it has of databases goes into a folder within it.
    ///   - decode: throws if a session's snapshot or commands cannot be decoded.
    ///   - install: called for each new file and folder before it is in its place, for example to change its owner.
    /// - Throws: ``CommandLogFault`` `.unusable` for a backup that is not complete, `.damaged` for one with a fault, and
    ///   `.notWritten` for the folder. The folder is then as before.
    public static func restore(
        _ file: String, to folder: String, decode: (KeptCommands.Session) throws -> Void,
        install: (String) throws(CommandLogFault) -> Void
    ) throws(CommandLogFault) -> RestoreReport {
        let (sessions, history) = try backup(file)
        let report = try check(sessions, history: history, decode: decode)
        if let fault = report.faults.first { throw CommandLogFault(.damaged, "the backup has a fault: \(fault)") }
        let places = try [
            (sessions, DatabaseFiles(folder: folder)),
            (history, DatabaseFiles(folder: folder, name: DatabaseFiles.archive)),
        ]
        var drafts: [(draft: String, place: DatabaseFiles)] = []
        defer { for each in drafts { unlink(each.draft) } }
        for (source, place) in places where source.exists {
            guard let draft = DatabaseFiles.createDraft(of: place.path) else { throw notWritten(place.path) }
            drafts.append((draft, place))
            try copyFile(source.path, to: draft)
            try install(draft)
        }
        let lostOrderCount = TailMark.read(places[1].1).lostOrderCount
        let replaced = try setAside(places.map(\.1), in: folder, install)
        // The history first: without the sessions, a server still gives none of its seqs to another message.
        for each in drafts.reversed() where rename(each.draft, each.place.path) != 0 {
            let fault = notWritten(each.place.path)
            for each in drafts { unlink(each.place.path) }
            if let replaced { putBack(places.map(\.1), from: replaced) }
            throw fault
        }
        // The seqs of rooms that are younger than the backup must not come again either, whatever was restored before.
        try noteLostOrders(lostOrderCount, beside: places[1].1, install)
        return RestoreReport(backup: report, replaced: replaced)
    }

    private static func noteLostOrders(
        _ count: Int64, beside history: DatabaseFiles, _ install: (String) throws(CommandLogFault) -> Void
    ) throws(CommandLogFault) {
        if count == 0 || !history.exists { return }
        try TailMark(history).begin(TailMark.Content(lostOrderCount: count))
        try install(history.tailPath)
    }

    /// The files of a backup that is complete.
    private static func backup(_ file: String) throws(CommandLogFault) -> (DatabaseFiles, DatabaseFiles) {
        let url = URL(filePath: file)
        let folder = url.deletingLastPathComponent().path
        let sessions = try DatabaseFiles(folder: folder, name: url.lastPathComponent)
        let history = try DatabaseFiles(folder: folder, name: url.lastPathComponent + historySuffix)
        func incomplete(_ missing: DatabaseFiles, _ consequence: String) -> CommandLogFault {
            CommandLogFault(
                .unusable,
                "\(missing.path) is missing: \(consequence). Find the file, or restore a backup that has both.")
        }
        guard sessions.exists else {
            throw history.exists
                ? incomplete(sessions, "the history alone may lack the newest messages")
                : CommandLogFault(.unusable, "there is no backup \(sessions.path)")
        }
        for each in [sessions, history] { try each.checkKinds() }
        let copy: LogState.Copy?
        var needsHistory = false
        do throws(DatabaseError) {
            let database = try Database.openForReading(sessions)
            copy = try LogState.read(from: database)?.copy
            // Earlier versions did not note whether there is a history.
            needsHistory =
                try copy == .withHistory ? true : LogContent(database).keptSessions.contains { $0.hasHistory }
        } catch {
            throw CommandLogFault(
                error.kind == .damaged ? .damaged : .unusable, "cannot read \(sessions.path): \(error)")
        }
        guard copy != nil else {
            throw CommandLogFault(
                .unusable,
                "\(sessions.path) was not made by signalbox state backup. Copy the whole folder of a stopped server.")
        }
        if needsHistory, !history.exists {
            throw incomplete(history, "without it, the messages of the rooms are gone")
        }
        return (sessions, history)
    }

    /// Moves databases into a new folder beside them, all or none.
    private static func setAside(
        _ databases: [DatabaseFiles], in folder: String, _ install: (String) throws(CommandLogFault) -> Void
    ) throws(CommandLogFault) -> String? {
        if databases.allSatisfy(\.sizes.isEmpty) { return nil }
        var template = Array((folder + "/replaced.XXXXXX").utf8CString)
        let aside = template.withUnsafeMutableBufferPointer { bytes -> String? in
            guard let name = bytes.baseAddress, mkdtemp(name) != nil else { return nil }
            return String(cString: name)
        }
        guard let aside else { throw notWritten(folder) }
        do throws(CommandLogFault) {
            try install(aside)
            for each in databases { try each.move(to: "\(aside)/\(each.name)") }
        } catch {
            putBack(databases, from: aside)
            throw error
        }
        return aside
    }

    private static func putBack(_ databases: [DatabaseFiles], from aside: String) {
        for each in databases { _ = try? DatabaseFiles(folder: aside, name: each.name).move(to: each.path) }
        rmdir(aside)
    }

    /// A copy that is on the disk.
    private static func copyFile(_ source: String, to draft: String) throws(CommandLogFault) {
        let (input, output) = (Glibc.open(source, O_RDONLY | O_CLOEXEC), Glibc.open(draft, O_WRONLY | O_CLOEXEC))
        defer { for descriptor in [input, output] where descriptor >= 0 { Glibc.close(descriptor) } }
        var count = input >= 0 && output >= 0 ? 1 : -1
        while count > 0 { count = sendfile(output, input, nil, 1 << 30) }
        guard count == 0, fsync(output) == 0 else {
            throw CommandLogFault(
                .notWritten, "cannot copy \(source) to \(draft): \(String(cString: strerror(errno)))")
        }
    }

    private static func notWritten(_ path: String) -> CommandLogFault {
        CommandLogFault(.notWritten, "cannot write \(path): \(String(cString: strerror(errno)))")
    }
}
