#ifndef SIGNALBOX_CEMBEDDEDFILES_H
#define SIGNALBOX_CEMBEDDEDFILES_H

#include <stddef.h>

/* A tar archive with the test page and the browser library, which `scripts/build web` makes. */
const unsigned char *signalbox_web_files(void);
/* Its size in bytes; 0 in a build that was made without it. */
size_t signalbox_web_files_count(void);

/* The C libraries inside of the portable program, a line for each: Debian's source package and its version. "" in every
 * other build, which loads the libraries of the system. */
const char *signalbox_libraries(void);

#endif
