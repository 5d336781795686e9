#ifndef SIGNALBOX_CHIREDIS_H
#define SIGNALBOX_CHIREDIS_H

#include <hiredis/async.h>
#include <hiredis/hiredis.h>
#include <netdb.h>
#include <signal.h>
#include <sys/socket.h>

/* Only what Swift cannot import: macros with casts. */

/* hiredis writes with write(), so a connection that the server has closed would end the process. A handler that the
 * program has installed stays. */
static inline void signalbox_redis_ignore_broken_pipes(void) {
    struct sigaction present;
    if (sigaction(SIGPIPE, NULL, &present) == 0 && present.sa_handler == SIG_DFL) signal(SIGPIPE, SIG_IGN);
}

#endif
