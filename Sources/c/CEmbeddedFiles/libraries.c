#include "CEmbeddedFiles.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

/* scripts/build release --portable sets it to the path of the list. */
static const char libraries[] = {
#ifdef SIGNALBOX_LIBRARIES
#embed SIGNALBOX_LIBRARIES suffix(, )
#endif
    0
};

const char *signalbox_libraries(void) { return libraries; }
