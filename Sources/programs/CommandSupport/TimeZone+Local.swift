import FoundationEssentials
import Glibc
import SignalingProtocol
import SignalingServer

extension TimeZone {
    /// The machine's zone as it is at a time, from the C library: `TimeZone.current` would bring Foundation's tables of
    /// all languages into the program, 40 MB. UTC, if the time is out of the calendar's range.
    package static func local(at time: WallTime) -> TimeZone {
        var seconds = time_t(time.milliseconds / 1000)
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return .gmt }
        // As `+0130`: the module of the structure depends on the other modules of the build, so its members may be out
        // of reach.
        guard let number = Int(TimeForm.text("%z", &parts)) else { return .gmt }
        return TimeZone(secondsFromGMT: (number / 100 * 60 + number % 100) * 60) ?? .gmt
    }
}
