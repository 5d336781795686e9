import CLibuv

/// What the system knows of a file. The structure of the C library has another module in each build, libuv's has one.
package struct FileStatus: Equatable, Sendable {
    /// The number of the owner, and of the group.
    package let owner: UInt32
    package let group: UInt32
    /// The permissions, for example `0o600`.
    package let permissions: Int
    /// Whether it is a file with content: no folder, no link, no pipe, no device.
    package let isRegular: Bool
    package let byteCount: Int
    /// The number of the file in its file system.
    package let number: UInt64
    /// The time of the last change of the content, since 1970.
    package let modified: Duration

    /// The status of a file, or of a symbolic link itself. `nil` if there is none, or if it cannot be told.
    package init?(_ path: String) {
        var request = uv_fs_t()
        defer { uv_fs_req_cleanup(&request) }
        guard uv_fs_lstat(nil, &request, path, nil) == 0 else { return nil }
        let status = request.statbuf
        owner = UInt32(truncatingIfNeeded: status.st_uid)
        group = UInt32(truncatingIfNeeded: status.st_gid)
        permissions = Int(status.st_mode & 0o7777)
        isRegular = status.st_mode & 0o170000 == 0o100000
        byteCount = Int(clamping: status.st_size)
        number = status.st_ino
        modified = .seconds(status.st_mtim.tv_sec) + .nanoseconds(status.st_mtim.tv_nsec)
    }
}
