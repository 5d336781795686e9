#ifndef SIGNALBOX_CLIBUV_H
#define SIGNALBOX_CLIBUV_H

#include <uv.h>

/* Has the loop measure the time in which it waits for input: uv_metrics_idle_time(). Swift imports no variadic C
   function. */
static inline int signalbox_measure_idle_time(uv_loop_t *loop) { return uv_loop_configure(loop, UV_METRICS_IDLE_TIME); }

#endif
