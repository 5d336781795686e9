#ifndef SIGNALBOX_CLIBWEBSOCKETS_H
#define SIGNALBOX_CLIBWEBSOCKETS_H

#include <libwebsockets.h>
#include <uv.h>

#endif
