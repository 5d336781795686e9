#ifndef SIGNALBOX_CLIBUV_H
#define SIGNALBOX_CLIBUV_H

#include <pthread.h>
#include <signal.h>
#include <uv.h>

/* Has the loop measure the time in which it waits for input: uv_metrics_idle_time(). Swift imports no variadic C
   function. */
static inline int signalbox_measure_idle_time(uv_loop_t *loop) { return uv_loop_configure(loop, UV_METRICS_IDLE_TIME); }

/* pthread_t is an integer on one platform and a pointer on another. */
static inline void signalbox_detach_current_thread(void) { pthread_detach(pthread_self()); }

#if defined(__linux__)
/* Its declaration needs _GNU_SOURCE. */
extern int pthread_setname_np(pthread_t, const char *);
#endif
static inline void signalbox_name_current_thread(const char *name) {
#if defined(__linux__)
    pthread_setname_np(pthread_self(), name);
#else
    pthread_setname_np(name);
#endif
}

/* libuv leaves SIGPIPE to the program, and Swift imports no macro with a cast. A handler that the program has installed
   stays. */
static inline void signalbox_ignore_broken_pipes(void) {
    struct sigaction present;
    if (sigaction(SIGPIPE, NULL, &present) == 0 && present.sa_handler == SIG_DFL) signal(SIGPIPE, SIG_IGN);
}

#endif
