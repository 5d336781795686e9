#include "CEmbeddedFiles.h"

/* C23, which the clang of the Swift toolchain knows as an extension of older C. */
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char files[] = {
#if __has_embed("../../../web-test-client/dist/web-files.tar")
#embed "../../../web-test-client/dist/web-files.tar" suffix(, )
#endif
    0 /* An array has at least one element. */
};

const unsigned char *signalbox_web_files(void) { return files; }

size_t signalbox_web_files_count(void) { return sizeof(files) - 1; }
