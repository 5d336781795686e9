/// The version of the server and of the program.
package enum ServerVersion {
    /// `docs/openapi.yaml` and `web-test-client/package.json` repeat it; a test compares them.
    package static let text = "0.1.0"
}
