#ifndef SIGNALBOX_CWEBFILES_H
#define SIGNALBOX_CWEBFILES_H

#include <stddef.h>

/* A tar archive with the test page and the browser library, which `scripts/build web` makes. */
const unsigned char *signalbox_web_files(void);
/* Its size in bytes; 0 in a build that was made without it. */
size_t signalbox_web_files_count(void);

#endif
