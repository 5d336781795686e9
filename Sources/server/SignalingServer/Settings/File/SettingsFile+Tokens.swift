import JSONText
import SignalingProtocol
import SignalingTokens

/// What a project of the file says about its tokens.
extension SettingsFile {
    static let userMember = SettingsTable.shared.userFrom.declaration.name
    static let revokedMember = "revoked"

    /// Where the project's tokens have their user; `nil` if it does not say.
    static func userSource(_ members: Members) throws -> UserSource?? {
        guard members.object[userMember] != nil else { return nil }
        let text = try members.text(userMember)
        do { return .some(try UserSource.read(setting: text)) } catch let error as ConfigurationError {
            throw ConfigurationError("\(members.name): \(error.description)")
        }
    }

    /// What the project has revoked (TOK-10).
    static func revoked(_ members: Members) throws -> Revocations {
        guard let member = members.object[revokedMember] else { return Revocations() }
        guard let values = member.arrayValue else {
            throw ConfigurationError("\(members.name): \"\(revokedMember)\" must be a list")
        }
        guard values.count <= Limits.revocationCount else {
            throw ConfigurationError(
                "\(members.name): \"\(revokedMember)\" has \(values.count) elements. Give at most "
                    + "\(Limits.revocationCount).")
        }
        return Revocations(
            try values.enumerated().map { index, value in (index, value) }.mapCollectingFaults { index, value in
                do throws(SignalingError) { return try Revocation(value) } catch {
                    throw ConfigurationError("\(members.name): \(revokedMember)[\(index)]: \(error.message)")
                }
            })
    }
}
