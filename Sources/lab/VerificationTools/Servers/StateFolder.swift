import Foundation

/// The folder in which a server keeps its sessions and their histories.
struct StateFolder: Sendable {
    let url: URL

    private var files: [URL] {
        (try? FileManager.default.contentsOfDirectory(at: url, includingPropertiesForKeys: nil)) ?? []
    }

    /// Which of the texts are in a file, with the name of one of their files.
    func search(_ texts: Set<String>) -> [String: String] {
        var found: [String: String] = [:]
        for file in files {
            guard let content = try? Data(contentsOf: file) else { continue }
            for text in texts where found[text] == nil && content.range(of: Data(text.utf8)) != nil {
                found[text] = file.lastPathComponent
            }
        }
        return found
    }

    /// The files at one moment, by their names. Suspend the server.
    func copy() throws -> [String: Data] {
        var copy: [String: Data] = [:]
        for file in files where !file.hasDirectoryPath { copy[file.lastPathComponent] = try Data(contentsOf: file) }
        return copy
    }

    /// Puts a copy into the same files, as a volume has them that is put back from a snapshot.
    func putBack(_ copy: [String: Data]) throws {
        for file in files where !file.hasDirectoryPath && copy[file.lastPathComponent] == nil {
            try FileManager.default.removeItem(at: file)
        }
        for (name, content) in copy {
            let file = try FileHandle(forUpdating: url.appending(path: name))
            try file.truncate(atOffset: 0)
            try file.write(contentsOf: content)
            try file.close()
        }
    }

    func removeHistory() throws { try FileManager.default.removeItem(at: url.appending(path: "history.sqlite")) }
}
