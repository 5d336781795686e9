#ifndef SIGNALBOX_CLIBCURL_H
#define SIGNALBOX_CLIBCURL_H

#include <curl/curl.h>

/* Only what Swift cannot import: variadic functions, one for each type of argument, and a union. */

static inline CURLcode signalbox_curl_set_number(CURL *easy, CURLoption option, long number) {
    return curl_easy_setopt(easy, option, number);
}
/* For texts, which libcurl copies, and for other pointers, which it does not. */
static inline CURLcode signalbox_curl_set_pointer(CURL *easy, CURLoption option, const void *pointer) {
    return curl_easy_setopt(easy, option, pointer);
}
static inline CURLcode signalbox_curl_set_callback(CURL *easy, CURLoption option, curl_write_callback callback) {
    return curl_easy_setopt(easy, option, callback);
}

/* The status of the last response, which may be one of 100 to 199; 0 without one. */
static inline long signalbox_curl_status(CURL *easy) {
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    return status;
}
/* The pointer of CURLOPT_PRIVATE. */
static inline void *signalbox_curl_private(CURL *easy) {
    char *pointer = NULL;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &pointer);
    return pointer;
}

static inline CURLMcode signalbox_curl_multi_set_number(CURLM *multi, CURLMoption option, long number) {
    return curl_multi_setopt(multi, option, number);
}
/* The next transfer that has ended since the last call, with its result; NULL without one. */
static inline CURL *signalbox_curl_next_ended(CURLM *multi, CURLcode *result) {
    int rest = 0;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &rest)) != NULL) {
        if (message->msg != CURLMSG_DONE) continue;
        *result = message->data.result;
        return message->easy_handle;
    }
    return NULL;
}

#endif
