#ifndef SIGNALBOX_CLIBWEBSOCKETS_H
#define SIGNALBOX_CLIBWEBSOCKETS_H

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libwebsockets.h>
#if defined(__linux__)
#include <malloc.h>
#endif
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

/* Only what Swift cannot import: macros, functions that need _GNU_SOURCE, and unions. */

/* The headroom that lws_write() needs below the payload. Swift does not import a macro with arithmetic. */
enum { SIGNALBOX_LWS_PRE = LWS_PRE };

#if defined(__linux__)
extern int accept4(int, struct sockaddr *, socklen_t *, int);
#endif

/* Accepts a connection. The new descriptor does not block, and child processes do not inherit it. */
static inline int signalbox_accept(int listener, struct sockaddr_storage *address) {
    socklen_t length = sizeof(*address);
#if defined(__linux__)
    return accept4(listener, (struct sockaddr *)address, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
#else
    int accepted = accept(listener, (struct sockaddr *)address, &length);
    if (accepted >= 0) {
        fcntl(accepted, F_SETFD, FD_CLOEXEC);
        fcntl(accepted, F_SETFL, fcntl(accepted, F_GETFL) | O_NONBLOCK);
    }
    return accepted;
#endif
}

/* These have different types on different platforms, or the name of a Swift method. */
static inline int signalbox_stream_socket(int family) { return socket(family, SOCK_STREAM, 0); }
static inline int signalbox_listen(int descriptor, int backlog) { return listen(descriptor, backlog); }
static inline int signalbox_close(int descriptor) { return close(descriptor); }
static inline int signalbox_shutdown_writing(int descriptor) { return shutdown(descriptor, SHUT_WR); }
static inline int signalbox_shutdown(int descriptor) { return shutdown(descriptor, SHUT_RDWR); }
static inline ssize_t signalbox_receive(int descriptor, void *bytes, size_t count) {
    return recv(descriptor, bytes, count, MSG_DONTWAIT);
}
/* Whether the peer has closed its side, also if unread bytes lie before the end. Elsewhere than on Linux it is known
   only of a connection that has ended. */
static inline int signalbox_has_hung_up(int descriptor) {
#ifdef __linux__
    /* POLLRDHUP, which the header has for _GNU_SOURCE only. */
    short end = 0x2000 | POLLHUP | POLLERR;
#else
    short end = POLLHUP | POLLERR;
#endif
    struct pollfd entry = {.fd = descriptor, .events = end};
    return poll(&entry, 1, 0) > 0 && (entry.revents & end) != 0;
}
/* Reads bytes, and leaves them in the system's buffer. */
static inline ssize_t signalbox_peek(int descriptor, void *bytes, size_t count) {
    return recv(descriptor, bytes, count, MSG_PEEK | MSG_DONTWAIT);
}
/* Makes a socket readable only when it has this many bytes, or its peer has hung up. */
static inline void signalbox_wait_for_bytes(int descriptor, int count) {
    setsockopt(descriptor, SOL_SOCKET, SO_RCVLOWAT, &count, sizeof(count));
}
/* Whether the library closes its wake-up descriptor twice, at the beginning and at the end of a context's destruction. 4.3
 * closes it once, at the end. */
static inline bool signalbox_closes_twice(void) { return LWS_LIBRARY_VERSION_NUMBER < 4003000; }
/* Whether the library reads on from a connection while a request is served, without being able to keep what it reads. */
static inline bool signalbox_reads_while_serving(void) { return LWS_LIBRARY_VERSION_NUMBER >= 4003000; }
/* Opens a descriptor that only occupies a number. */
static inline int signalbox_open_nothing(void) { return open("/dev/null", O_RDONLY | O_CLOEXEC); }
/* Duplicates `model` to the lowest free descriptor that is not below `wanted`. */
static inline int signalbox_occupy(int model, int wanted) { return fcntl(model, F_DUPFD_CLOEXEC, wanted); }
static inline ssize_t signalbox_send(int descriptor, const void *bytes, size_t count) {
#if defined(MSG_NOSIGNAL)
    return send(descriptor, bytes, count, MSG_NOSIGNAL);
#else
    return send(descriptor, bytes, count, 0);
#endif
}

/* How many bytes the peer's TCP has acknowledged since the connection was made; 0 on systems that do not report it. */
static inline uint64_t signalbox_acknowledged_byte_count(int descriptor) {
#if defined(__linux__)
    /* The offset of tcpi_bytes_acked, since Linux 4.1. glibc's struct tcp_info ends before it. */
    enum { offset = 120 };
    unsigned char info[offset + sizeof(uint64_t)];
    socklen_t length = sizeof(info);
    uint64_t count = 0;
    if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, info, &length) == 0 && length == sizeof(info))
        memcpy(&count, info + offset, sizeof(count));
    return count;
#else
    (void)descriptor;
    return 0;
#endif
}

/* How many bytes the program has read from a connection since it was made; -1 on systems that do not report it. The end
 * of the stream may count as a byte. */
static inline int64_t signalbox_read_byte_count(int descriptor) {
#if defined(__linux__)
    /* The offset of tcpi_bytes_received, since Linux 4.1. glibc's struct tcp_info ends before it. */
    enum { offset = 128 };
    unsigned char info[offset + sizeof(int64_t)];
    socklen_t length = sizeof(info);
    int64_t before = -1, count = 0;
    int unread = 0;
    /* A segment may arrive between the two calls: the numbers belong together if nothing has arrived meanwhile. */
    for (int attempt = 0; attempt < 100; attempt++) {
        if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, info, &length) != 0 || length != sizeof(info)) return -1;
        memcpy(&count, info + offset, sizeof(count));
        if (count == before) return count - unread;
        before = count;
        if (ioctl(descriptor, FIONREAD, &unread) != 0) return -1;
    }
    return -1;
#else
    (void)descriptor;
    return -1;
#endif
}

/* Returns the allocator's free memory to the operating system, where the C library can do that. */
static inline void signalbox_release_free_memory(void) {
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

/* Fills at most 256 bytes with random numbers of the operating system. 0, or -1 on a system that has none yet. */
static inline int signalbox_random_bytes(void *bytes, size_t count) { return getentropy(bytes, count); }

/* The calling thread as a number: pthread_t is an integer on one platform and a pointer on another. */
static inline uintptr_t signalbox_current_thread(void) { return (uintptr_t)pthread_self(); }

/* libwebsockets unloads its libuv plug-in together with a context. A handle of the plug-in that is still closing, or
 * another context, would then run code that is no longer loaded. So the plug-in stays loaded. */
static inline void signalbox_keep_event_plugin_loaded(void) {
#if defined(__linux__)
    dlopen("libwebsockets-evlib_uv.so", RTLD_LAZY | RTLD_NODELETE);
#endif
}

/* lws_adopt_desc_t contains a union. The opaque pointer is set here because callbacks come before the call returns. */
static inline struct lws *signalbox_adopt(struct lws_vhost *vhost, int descriptor, int tls, void *opaque) {
    lws_adopt_desc_t description = { 0 };
    description.vh = vhost;
    description.type = (lws_adoption_type)(LWS_ADOPT_SOCKET | LWS_ADOPT_HTTP | (tls ? LWS_ADOPT_ALLOW_SSL : 0));
    description.fd.sockfd = descriptor;
    description.opaque = opaque;
    return lws_adopt_descriptor_vhost_via_info(&description);
}

/* Has the library read these bytes from a connection without TLS, before what its socket has. The library only reads
 * from a descriptor, so the connection's own is another socket meanwhile; what the library writes there is sent on
 * behind. Must not be called from within one of the connection's callbacks. Returns 0 if the bytes were not read. */
static inline int signalbox_read_instead(struct lws *wsi, const void *bytes, size_t count) {
    int descriptor = lws_get_socket_fd(wsi);
    struct lws_context *context = lws_get_context(wsi);
    int pair[2];
    int socket = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (socket < 0) return 0;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) {
        close(socket);
        return 0;
    }
    for (int end = 0; end < 2; end++) {
        fcntl(pair[end], F_SETFD, FD_CLOEXEC);
        fcntl(pair[end], F_SETFL, O_NONBLOCK);
    }
    int done = send(pair[0], bytes, count, 0) == (ssize_t)count && dup2(pair[1], descriptor) == descriptor;
    if (done) {
        int unread = 0;
        /* The library may read a long head in pieces. After a response it reads nothing before it has seen once that the
         * socket is writable. */
        for (int turn = 0; turn < 64; turn++) {
            int events = turn % 2 == 0 ? LWS_POLLIN : LWS_POLLOUT;
            struct lws_pollfd poll = { descriptor, (short)events, (short)events };
            lws_service_fd(context, &poll);
            if (ioctl(pair[1], FIONREAD, &unread) != 0 || unread == 0) break;
        }
        done = unread == 0;
        dup2(socket, descriptor);
        fcntl(descriptor, F_SETFD, FD_CLOEXEC);
        char written[4096];
        ssize_t length;
        while ((length = recv(pair[0], written, sizeof(written), MSG_DONTWAIT)) > 0) {
            if (signalbox_send(socket, written, (size_t)length) != length) break;
        }
    }
    close(pair[0]);
    close(pair[1]);
    close(socket);
    return done;
}

/* Has a connection use the certificate, chain and key of a context. OpenSSL has a macro for the chain. Returns 0 on
 * failure. */
static inline int signalbox_tls_use_certificate(SSL *connection, SSL_CTX *source) {
    STACK_OF(X509) *chain = NULL;
    if (!SSL_CTX_get0_chain_certs(source, &chain)) return 0;
    SSL_certs_clear(connection);
    return SSL_use_cert_and_key(connection, SSL_CTX_get0_certificate(source), SSL_CTX_get0_privatekey(source), chain, 1);
}

/* Sets the TLS versions, ciphers and options of a server. OpenSSL has macros for all of this. Returns 0 on failure. */
static inline int signalbox_tls_server_rules(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET);
    /* No resumption: a session cache keeps memory for two hours, and tickets need keys that are rotated. */
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    /* libwebsockets would select a virtual host by the name that the client requests; there is only one. */
    SSL_CTX_set_tlsext_servername_callback(context, NULL);
    return SSL_CTX_set_num_tickets(context, 0) && SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION)
        && SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20");
}

#endif
