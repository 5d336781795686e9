import EventLoop
import FoundationEssentials
import Glibc
import SignalingTransport

/// The resources that the process uses, as the operating system counts them.
struct ProcessUsage {
    /// nil where the system does not tell it (other than Linux).
    let residentByteCount: Int?
    let openDescriptorCount: Int?
    let descriptorLimit: Int
    /// User and system time, in seconds.
    let processorSeconds: Double

    /// When the process started, in seconds since 1970; nil where the system does not tell it.
    static let startedAt: Double? = {
        // The fields after the program's name, which may contain blanks and parentheses. The 22nd counts from the boot.
        guard let line = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8),
            let end = line.lastIndex(of: ")"),
            let boot = try? String(contentsOfFile: "/proc/stat", encoding: .utf8)
                .split(separator: "\n").first(where: { $0.hasPrefix("btime ") }),
            let bootTime = Double(boot.dropFirst("btime ".count))
        else { return nil }
        let fields = line[end...].split(separator: " ")
        guard fields.count > 20, let ticks = Double(fields[20]) else { return nil }
        return bootTime + ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }()

    static func current() -> ProcessUsage {
        ProcessUsage(
            residentByteCount: residentByteCount(), openDescriptorCount: openDescriptorCount(),
            descriptorLimit: DescriptorLimit.current, processorSeconds: processorSeconds())
    }

    /// /proc/self/statm: sizes in pages; the second is the resident one.
    private static func residentByteCount() -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
        let fields = text.split(separator: " ")
        return fields.count > 1 ? Int(fields[1]).map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) } : nil
    }

    /// The size of /proc/self/fd is the number of descriptors since Linux 6.2. Before, the folder has to be read.
    private static func openDescriptorCount() -> Int? {
        let folder = "/proc/self/fd"
        if let size = FileStatus(folder)?.byteCount, size > 0 { return size }
        return (try? FileManager.default.contentsOfDirectory(atPath: folder))?.count
    }

    private static func processorSeconds() -> Double {
        var usage = rusage()
        #if canImport(Glibc)
            getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        #else
            getrusage(RUSAGE_SELF, &usage)
        #endif
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1_000_000 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }
}
