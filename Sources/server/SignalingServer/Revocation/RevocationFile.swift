import JSONText
import SignalingProtocol
import SignalingTokens

/// The file with revocations in a state folder. Its first line has all that held when it was written:
/// `{"version":1,"projects":[{"apiKey":"100","revocations":[{"user":"u-17","before":1700000000}]}]}`.
/// Each further line has what has changed since, in the order of the changes:
/// `{"changes":[{"apiKey":"100","add":{"user":"u-18","before":1700000000}},{"apiKey":"100","remove":{"jti":"a"}}]}`.
struct RevocationFile: Sendable, Equatable {
    /// What was done in a project.
    struct Step: Sendable, Equatable {
        let project: APIKey
        let change: RevocationChange
    }

    private static let version: Int64 = 1

    var revocations: [APIKey: Revocations]
    /// The changes behind the first line; `nil` if a crash has left a part of a line, behind which nothing may follow.
    private(set) var changeCount: Int? = 0

    /// A file without changes.
    var bytes: [UInt8] {
        let projects = revocations.sorted { $0.key < $1.key }.map { key, revocations -> JSONValue in
            ["apiKey": .string(key.rawValue), "revocations": .array(revocations.list.map(\.json))]
        }
        return JSONValue.object(["version": .integer(Self.version), "projects": .array(projects)]).encoded() + [10]
    }

    /// A further line.
    static func line(_ steps: [Step]) -> [UInt8] {
        JSONValue.object(["changes": .array(steps.map(\.json))]).encoded() + [10]
    }

    init(revocations: [APIKey: Revocations]) { self.revocations = revocations }

    /// - Throws: for a file that is not complete: with some revocations missing, revoked tokens would be valid again. The
    ///   last line may be a part of one: the server had not answered its changes when it was killed.
    init(_ bytes: [UInt8]) throws(FileFault) {
        let end = bytes.firstIndex(of: 10) ?? bytes.endIndex
        if let list = try? Self.list(bytes[..<end]) {
            revocations = list
            try readChanges(bytes[end...].dropFirst())
        } else {
            // A person may have laid out the list in several lines.
            revocations = try Self.list(bytes[...])
        }
    }

    private static func list(_ bytes: ArraySlice<UInt8>) throws(FileFault) -> [APIKey: Revocations] {
        let value = try Self.json(bytes)
        guard value["version"]?.integerValue == Self.version, let projects = value["projects"]?.arrayValue else {
            throw FileFault("this version of Signalbox cannot read it")
        }
        var revocations: [APIKey: Revocations] = [:]
        for project in projects {
            guard let key = project["apiKey"]?.stringValue, let list = project["revocations"]?.arrayValue else {
                throw FileFault("a project is malformed")
            }
            do throws(SignalingError) {
                var found: [Revocation] = []
                for value in list { found.append(try Revocation(value)) }
                revocations[APIKey(key)] = Revocations(found)
            } catch {
                throw FileFault("\(error.message)")
            }
        }
        return revocations
    }

    private mutating func readChanges(_ bytes: ArraySlice<UInt8>) throws(FileFault) {
        var (rest, count) = (bytes, 0)
        while !rest.isEmpty {
            let end = rest.firstIndex(of: 10)
            do throws(FileFault) {
                guard let end else { throw FileFault("its last line is not complete") }
                let steps = try Self.steps(rest[..<end])
                for step in steps { _ = revocations.carryOut(step.change, of: step.project) }
                count += steps.count
                rest = rest[(end + 1)...]
            } catch {
                guard end == nil || end == rest.endIndex - 1 else { throw error }
                return changeCount = nil
            }
        }
        changeCount = count
    }

    private static func steps(_ line: ArraySlice<UInt8>) throws(FileFault) -> [Step] {
        guard let changes = try json(line)["changes"]?.arrayValue else { throw FileFault("a change is malformed") }
        var steps: [Step] = []
        for change in changes { steps.append(try Step(change)) }
        return steps
    }

    private static func json(_ bytes: ArraySlice<UInt8>) throws(FileFault) -> JSONValue {
        do { return try JSONValue(parsing: Array(bytes), limits: JSONLimits(byteCount: 1 << 30)) } catch {
            throw FileFault("it is not JSON: \(error)")
        }
    }
}

extension RevocationFile.Step {
    fileprivate var json: JSONValue {
        switch change {
        case .add(let revocation): ["apiKey": .string(project.rawValue), "add": revocation.json]
        case .remove(let subject):
            ["apiKey": .string(project.rawValue), "remove": Revocation(subject, before: 0).json]
        }
    }

    fileprivate init(_ json: JSONValue) throws(FileFault) {
        guard let key = json["apiKey"]?.stringValue, let value = json["add"] ?? json["remove"] else {
            throw FileFault("a change is malformed")
        }
        do throws(SignalingError) {
            let revocation = try Revocation(value)
            self.init(
                project: APIKey(key), change: json["add"] == nil ? .remove(revocation.subject) : .add(revocation))
        } catch {
            throw FileFault("\(error.message)")
        }
    }
}
