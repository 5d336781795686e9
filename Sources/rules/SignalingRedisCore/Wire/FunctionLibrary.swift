/// The functions that Redis runs for the log (`signalbox.lua`). Each is one atomic step.
///
/// The name contains the version: servers of different versions can share a Redis, each with its own library. A change
/// of a function's arguments, replies or effects needs a new version. A further function does not: a server that misses
/// it loads its own library in the place of the older one. A further element at the end of a reply does not, either:
/// older servers ignore it, and newer ones can do without.
package enum FunctionLibrary {
    static let version = 1

    /// The name under which Redis knows a function.
    static func name(_ function: RedisFunction) -> String { "sb\(version)_\(function.rawValue)" }

    package static let code = String(decoding: PackageResources.signalbox_lua, as: UTF8.self)

    package static let loadCommand = RedisCommand("FUNCTION", "LOAD", "REPLACE", code)
}

/// The functions of ``FunctionLibrary``.
enum RedisFunction: String {
    case hello, append, open, close, keep, forget, sleepers, remove, repair, restore, goodbye
    /// Its name is newer than the function: servers of before the list of sleepers call it `sleep`, and this one loads its
    /// own library where Redis has theirs.
    case sleep = "sleep_listed"
    /// For commands of which one frees memory.
    case appendFreeing = "append_freeing"
    case declareLost = "declare_lost"
    case archiveAdd = "archive_add"
    case archivePut = "archive_put"
    case archivePage = "archive_page"
    case archiveErase = "archive_erase"
    case archiveEraseUser = "archive_erase_user"
    case archiveEnd = "archive_end"
    case feedAdd = "feed_add"
    case feedRead = "feed_read"
    case feedReset = "feed_reset"
    case feedCursor = "feed_cursor"
    case feedClaim = "feed_claim"
    case revoke
    case takeBackRevocation = "take_back_revocation"
    case revocationIndex = "revocation_index"
    case revocationRows = "revocation_rows"
    /// Asks for the name of Redis' process.
    case process
}
