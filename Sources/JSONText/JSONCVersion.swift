import CJSONC

/// The version of json-c that the process uses.
public enum JSONCVersion {
    public static var text: String { String(cString: json_c_version()) }
}
