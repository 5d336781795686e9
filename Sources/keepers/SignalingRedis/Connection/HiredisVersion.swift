import CHiredis

/// The version of hiredis that the program was built with. hiredis has no function that tells the version in use; its
/// file name has the first two numbers, so only the third can differ.
public enum HiredisVersion {
    public static var text: String { "\(HIREDIS_MAJOR).\(HIREDIS_MINOR).\(HIREDIS_PATCH)" }
}
