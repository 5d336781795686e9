import Foundation
import JSONText
import SignalingProtocol

/// The cases in `Tests/Vectors`, shared with the JavaScript tests.
public enum Vectors {
    /// The whole value of the file `folder/name.json` in `Tests/Vectors`.
    public static func load(_ path: String) throws -> JSONValue {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let bytes = try Data(contentsOf: folder.appending(path: "Vectors").appending(path: path))
        return try JSONValue(parsing: bytes)
    }

    /// The member `cases` of a file. Throws ``Malformed`` when the file has no case.
    public static func cases(_ path: String) throws -> [VectorCase] {
        guard let cases = try load(path)["cases"]?.arrayValue, !cases.isEmpty else { throw Malformed(path: path) }
        return cases.enumerated().map { index, value in
            VectorCase(name: value["name"]?.stringValue ?? "case \(index)", value: value)
        }
    }

    /// The files of a folder in `Tests/Vectors`, by name: `folder/name.json` and the whole value.
    public static func files(in folder: String) throws -> [(path: String, value: JSONValue)] {
        let files = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Vectors").appending(path: folder)
        let names = try FileManager.default.contentsOfDirectory(atPath: files.path(percentEncoded: false))
        let values = try names.filter { $0.hasSuffix(".json") }.sorted().map { name in
            (path: "\(folder)/\(name)", value: try load("\(folder)/\(name)"))
        }
        guard !values.isEmpty else { throw Malformed(path: folder) }
        return values
    }

    /// The cases of every file of a folder. A case inherits each member of its file that it does not have itself.
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

/// One case of a vector file: its name, and the members that its kind of file defines.
public struct VectorCase: Sendable, CustomStringConvertible {
    public let name: String
    public let value: JSONValue

    public subscript(_ name: String) -> JSONValue? { value[name] }
    public var description: String { name }

    /// The input of the case: `text` in UTF-8, or the hex digits of `base16`.
    public var bytes: [UInt8]? {
        if let text = value["text"]?.stringValue { return Array(text.utf8) }
        return value["base16"]?.stringValue.flatMap { Hexadecimal.decoded($0.utf8) }
    }
}
