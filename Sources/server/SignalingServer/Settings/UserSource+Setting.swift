import SignalingTokens

extension UserSource {
    /// Reads the setting `userFrom`; `none` gives `nil`.
    ///
    /// - Throws: ``ConfigurationError`` for another text.
    static func read(setting text: String) throws -> UserSource? {
        if text == "none" { return nil }
        guard let source = UserSource(setting: text) else {
            throw ConfigurationError(
                "userFrom is \"\(text.prefix(64))\". Use connectionData, connectionData.NAME with the name of a member, "
                    + "or none.")
        }
        return source
    }
}
