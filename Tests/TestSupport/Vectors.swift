import Foundation
import JSONText

/// The cases in `Tests/Vectors`, shared with the JavaScript tests.
public enum Vectors {
    /// The file's whole value, `folder/name.json` below `Tests/Vectors`.
    public static func load(_ path: String) throws -> JSONValue {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let bytes = try Data(contentsOf: folder.appending(path: "Vectors").appending(path: path))
        return try JSONValue(parsing: bytes)
    }

    /// The file's `cases`.
    public static func cases(_ path: String) throws -> [VectorCase] {
        guard let cases = try load(path)["cases"]?.arrayValue, !cases.isEmpty else { throw Malformed(path: path) }
        return cases.enumerated().map { place, value in
            VectorCase(name: value["name"]?.stringValue ?? "case \(place)", value: value)
        }
    }

    /// All files of a folder below `Tests/Vectors`, in order of their names: `folder/name.json` and the whole value.
    public static func files(in folder: String) throws -> [(path: String, value: JSONValue)] {
        let vectors = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Vectors")
        let names = try FileManager.default.contentsOfDirectory(atPath: vectors.appending(path: folder).path())
        let files = try names.filter { $0.hasSuffix(".json") }.sorted().map { name in
            (path: "\(folder)/\(name)", value: try load("\(folder)/\(name)"))
        }
        guard !files.isEmpty else { throw Malformed(path: folder) }
        return files
    }

    /// The cases of every file of a folder; each carries its file's members where it has none of its own.
    public static func folder(_ name: String) throws -> [VectorCase] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Vectors").appending(path: name)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".json") }
        guard !files.isEmpty else { throw Malformed(path: name) }
        return try files.sorted().flatMap { file in
            let whole = try load("\(name)/\(file)")
            return try cases("\(name)/\(file)").map { one in
                var members = one.value.objectValue ?? [:]
                for (member, value) in whole.objectValue ?? [:] where members[member] == nil && member != "cases" {
                    members[member] = value
                }
                return VectorCase(name: "\(file): \(one.name)", value: .object(members))
            }
        }
    }

    public struct Malformed: Error {
        public let path: String
    }
}

/// One case of a vector file: a name to show, and whatever the file's kind puts beside it.
public struct VectorCase: Sendable, CustomStringConvertible {
    public let name: String
    public let value: JSONValue

    public subscript(_ name: String) -> JSONValue? { value[name] }
    public var description: String { name }

    /// The bytes that the case is about: `text` in UTF-8, or `base16`.
    public var bytes: [UInt8]? {
        if let text = value["text"]?.stringValue { return Array(text.utf8) }
        guard let digits = value["base16"]?.stringValue.map({ Array($0.utf8) }), digits.count.isMultiple(of: 2) else {
            return nil
        }
        return stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
        }
    }
}
