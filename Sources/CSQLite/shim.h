#include <sqlite3.h>

/* Only what Swift cannot import: functions with variable arguments. */

/* Without this, closing the last connection writes the write-ahead log into the database and deletes it. A database
 * that is set aside must keep the log as it is. */
static inline int signalbox_sqlite_keep_log_on_close(sqlite3 *database, int keeps) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keeps, (int *)0);
}
