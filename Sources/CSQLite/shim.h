#include <sqlite3.h>

/* Only what Swift cannot import: functions with variable arguments. */

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
