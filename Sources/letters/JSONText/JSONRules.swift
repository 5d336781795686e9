/// The rules of ``JSONParser`` for another parser, which builds the value itself.
package enum JSONRules {
    /// Checks one whole text, but for equal names of one object.
    ///
    /// - Returns: the number of names of all objects together.
    package static func check(_ bytes: UnsafeRawBufferPointer, limits: JSONLimits) throws(JSONError) -> Int {
        guard bytes.count <= limits.byteCount else { throw JSONError(.tooLarge, at: limits.byteCount) }
        var scanner = JSONScanner<JSONChecking>(bytes, limits: limits)
        try scanner.scan()
        return scanner.memberCount
    }

    /// The error of a text in which an object has two equal names.
    package static func duplicateName(_ bytes: UnsafeRawBufferPointer, limits: JSONLimits) -> JSONError {
        var scanner = JSONScanner<JSONBuilding>(bytes, limits: limits)
        do throws(JSONError) { _ = try scanner.scan() } catch { return error }
        return JSONError(.duplicateName)
    }
}
