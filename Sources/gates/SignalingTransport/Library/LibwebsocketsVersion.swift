import CLibwebsockets

/// The version of libwebsockets that the process uses.
public enum LibwebsocketsVersion {
    /// For example `4.1.6`. The library also names the state of its sources, behind a hyphen.
    public static var text: String {
        String(cString: lws_get_library_version()).prefix { $0 != "-" }.description
    }
}
