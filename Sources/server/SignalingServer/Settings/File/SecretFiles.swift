import FoundationEssentials

/// Secrets in files, so that they are in no environment: `SIGNALBOX_API_SECRET_FILE=/run/secrets/api`, or a credential
/// of systemd with the name of the variable (`LoadCredential=SIGNALBOX_API_SECRET:/etc/signalbox/secret`).
package enum SecretFiles {
    /// The maximum size of such a file. A larger one is not a secret.
    private static let byteLimit = 65_536

    /// The environment with the secrets of the files, and the variable or the credential that each comes from.
    ///
    /// - Parameter faults: gets one for each file that cannot be read or is empty, and for a secret that is given twice.
    static func resolve(
        _ environment: [String: String], _ faults: inout FaultCollector
    ) -> (values: [String: String], names: [String: String]) {
        var (values, names) = (environment, [String: String]())
        for declaration in SettingsTable.declarations {
            guard let variable = declaration.variable, let fileVariable = declaration.fileVariable else { continue }
            if let path = environment[fileVariable] {
                names[declaration.name] = "\(fileVariable) \(path)"
                do { values[variable] = try value(of: variable, in: environment) } catch {
                    faults.addUnusable(error, declaration.name)
                }
            } else if environment[variable] == nil, let folder = environment["CREDENTIALS_DIRECTORY"],
                FileManager.default.fileExists(atPath: "\(folder)/\(variable)")
            {
                names[declaration.name] = "the credential \(variable)"
                do { values[variable] = try read("\(folder)/\(variable)", for: "CREDENTIALS_DIRECTORY") } catch {
                    faults.addUnusable(error, declaration.name)
                }
            }
        }
        return (values, names)
    }

    /// The secret in this variable, or in the file that the variable with `_FILE` at its end names; nil without both.
    ///
    /// - Throws: ``ConfigurationError`` when the file cannot be read or is empty, or when both variables are given.
    package static func value(of variable: String, in environment: [String: String]) throws -> String? {
        let fileVariable = variable + "_FILE"
        guard let path = environment[fileVariable] else { return environment[variable] }
        guard environment[variable] == nil else {
            throw ConfigurationError("\(variable) and \(fileVariable) are both given. Remove one of them.")
        }
        return try read(path, for: fileVariable)
    }

    /// What to say about a secret that begins or ends with a blank, which is seldom meant; `nil` about others. It has
    /// no part of the secret.
    ///
    /// - Parameter place: where the secret is: `--api-secret`, `SIGNALBOX_API_SECRET_FILE /run/secrets/api`.
    package static func warning(about secret: String, from place: String) -> String? {
        guard secret.first?.isWhitespace == true || secret.last?.isWhitespace == true else { return nil }
        return "the secret (\(place)) begins or ends with a blank or a line end, which counts as a part of it. Remove "
            + "the blank unless the secret has it."
    }

    /// Without the byte order mark and the line end that editors add.
    private static func read(_ path: String, for variable: String) throws -> String {
        guard let data = try? Data(contentsOf: URL(filePath: path)), data.count <= byteLimit else {
            throw ConfigurationError(
                "the file \(path) (\(variable)) cannot be read. Check that it exists and that the server may read it.")
        }
        guard var text = String(validating: data.withoutByteOrderMark, as: UTF8.self) else {
            throw ConfigurationError("the file \(path) (\(variable)) is not text in UTF-8. Save it as UTF-8.")
        }
        if text.hasSuffix("\r\n") || text.hasSuffix("\n") { text.removeLast() }
        guard !text.isEmpty else {
            throw ConfigurationError("the file \(path) (\(variable)) is empty. Write the secret into it.")
        }
        return text
    }
}

extension Data {
    /// The rest of a file that begins with the byte order mark of UTF-8, as some editors write it.
    var withoutByteOrderMark: Data { starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self }
}
