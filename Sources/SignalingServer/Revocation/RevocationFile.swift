import JSONText
import SignalingProtocol
import SignalingTokens

/// The file with revocations in a state folder:
/// `{"version":1,"projects":[{"apiKey":"100","revocations":[{"user":"u-17","before":1700000000}]}]}`.
struct RevocationFile: Sendable, Equatable {
    private static let version: Int64 = 1

    var revocations: [APIKey: Revocations]

    var bytes: [UInt8] {
        let projects = revocations.sorted { $0.key < $1.key }.map { key, revocations -> JSONValue in
            ["apiKey": .string(key.rawValue), "revocations": .array(revocations.list.map(\.json))]
        }
        return JSONValue.object(["version": .integer(Self.version), "projects": .array(projects)]).encoded() + [10]
    }

    init(revocations: [APIKey: Revocations]) { self.revocations = revocations }

    /// - Throws: for a file that is not complete: with some revocations missing, revoked tokens would be valid again.
    init(_ bytes: [UInt8]) throws(FileFault) {
        let value: JSONValue
        do { value = try JSONValue(parsing: bytes, limits: JSONLimits(byteCount: 1 << 30)) } catch {
            throw FileFault("it is not JSON: \(error)")
        }
        guard value["version"]?.integerValue == Self.version, let projects = value["projects"]?.arrayValue else {
            throw FileFault("this version of Signalbox cannot read it")
        }
        revocations = [:]
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
    }
}
