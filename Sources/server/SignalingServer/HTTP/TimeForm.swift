import Glibc

/// A time of the calendar in a form of the C library's `strftime`, in English: the program sets no locale.
package enum TimeForm {
    package static func text(_ form: String, _ parts: inout tm) -> String {
        String(unsafeUninitializedCapacity: 64) {
            $0.withMemoryRebound(to: CChar.self) {
                // Some versions of the library say that the pointer may not be absent, and some do not.
                guard let start = $0.baseAddress else { return 0 }
                return strftime(start, $0.count, form, &parts)
            }
        }
    }
}
