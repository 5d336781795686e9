import CJSONC

/// The version of json-c that the process uses.
package enum JSONCVersion {
    package static var text: String { String(cString: json_c_version()) }
}
