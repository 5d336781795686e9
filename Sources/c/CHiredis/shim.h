#ifndef SIGNALBOX_CHIREDIS_H
#define SIGNALBOX_CHIREDIS_H

#include <hiredis/hiredis.h>
#include <netdb.h>
#include <sys/socket.h>

/* The kind of the element whose end the reader awaits; negative at the beginning of one. Versions before 1 have their
 * tasks in an array, which Swift imports as a tuple. */
static inline int signalbox_redis_awaited_type(const redisReader *reader) {
    if (reader->ridx < 0) return -1;
#if HIREDIS_MAJOR >= 1
    return reader->task[reader->ridx]->type;
#else
    return reader->rstack[reader->ridx].type;
#endif
}

#endif
