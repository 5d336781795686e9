import Foundation
import JSONText

#if SIGNALBOX_JSONC
    import JSONC
#endif

/// `json-leaks FILE…` parses every JSON vector of the files and every prefix of it, so that valgrind can check that
/// json-c's memory is freed.
enum JSONLeaks {
    static func run(_ paths: [String]) throws {
        var accepted = 0
        var refused = 0
        for path in paths {
            let file = try JSONValue(parsing: try Data(contentsOf: URL(filePath: path)))
            for vector in file["cases"]?.arrayValue ?? [] {
                guard let bytes = vector["text"]?.stringValue.map({ Array($0.utf8) }) else { continue }
                // The prefixes of a vector of a hundred thousand brackets would only cost time.
                #if SIGNALBOX_JSONC
                    var parser = JSONCParser()
                #else
                    var parser = JSONParser()
                #endif
                for end in bytes.count > 2000 ? [bytes.count] : Array(0...bytes.count) {
                    do {
                        _ = try parser.parse(bytes[..<end])
                        accepted += 1
                    } catch { refused += 1 }
                }
            }
        }
        print("\(accepted) accepted, \(refused) refused")
        guard accepted > 50, refused > 500 else { exit(1) }
    }
}
