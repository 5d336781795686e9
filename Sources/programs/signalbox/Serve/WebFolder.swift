import FoundationEssentials

/// Finds the folder with the test page and the browser library.
enum WebFolder {
    /// `web-test-client` in the working directory, beside the program, in its package, or in the checkout that it was
    /// built in.
    static func find() -> String? {
        candidates().first { FileManager.default.fileExists(atPath: $0 + "/index.html") }
    }

    private static func candidates() -> [String] {
        var folders = [FileManager.default.currentDirectoryPath]
        if let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") {
            var folder = URL(filePath: program).deletingLastPathComponent()
            folders.append(folder.path)
            folders.append(folder.appending(path: "../share/signalbox").standardized.path)
            // The program is in .build/x86_64-unknown-linux-gnu/release, three levels below the checkout; search one
            // more.
            for _ in 0..<4 {
                folder.deleteLastPathComponent()
                folders.append(folder.path)
            }
        }
        return folders.map { $0 + "/web-test-client" }
    }
}
