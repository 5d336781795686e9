#include <sqlite3.h>
#include <stdint.h>
#ifdef __linux__
#include <fcntl.h>
#include <linux/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

/* Only what Swift cannot import: functions with variable arguments, and system calls that need _GNU_SOURCE. */

/* Without this, closing the last connection writes the write-ahead log into the database and deletes it. A database
 * that is set aside must keep the log as it is. */
static inline int signalbox_sqlite_keep_log_on_close(sqlite3 *database, int keeps) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keeps, (int *)0);
}

/* The file may come from somebody else: its schema runs no function with side effects, its views and triggers do
 * nothing, and no statement changes the schema behind SQLite's back (https://www.sqlite.org/security.html). */
static inline int signalbox_sqlite_distrust_file(sqlite3 *database) {
    int code = sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
    if (code == SQLITE_OK) code = sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
    if (code == SQLITE_OK) code = sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)0);
    if (code == SQLITE_OK) code = sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, (int *)0);
    return code;
}

/* The number and the time of creation, in nanoseconds, that a file keeps as long as it exists, and that no copy has. 0 if
 * the file system has no time of creation. */
static inline int signalbox_file_identity(const char *path, uint64_t *number, int64_t *created) {
#ifdef __linux__
    struct statx file;
    if (syscall(SYS_statx, AT_FDCWD, path, 0, STATX_INO | STATX_BTIME, &file) != 0) return 0;
    if ((file.stx_mask & STATX_INO) == 0 || (file.stx_mask & STATX_BTIME) == 0) return 0;
    *number = file.stx_ino;
    *created = (int64_t)file.stx_btime.tv_sec * 1000000000 + file.stx_btime.tv_nsec;
    return 1;
#else
    return 0;
#endif
}
