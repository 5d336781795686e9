#ifndef SIGNALBOX_COPENSSL_H
#define SIGNALBOX_COPENSSL_H

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <string.h>

/* Macros, which Swift does not import. */

static inline int signalbox_tls_set_least_version(SSL_CTX *context) {
    return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}

static inline int signalbox_tls_set_server_name(SSL *connection, const char *name) {
    return SSL_set_tlsext_host_name(connection, name);
}

/* OpenSSL's text for an error; the system's text for one of the system. */
static inline const char *signalbox_openssl_reason(unsigned long code) {
    return ERR_SYSTEM_ERROR(code) ? strerror(ERR_GET_REASON(code)) : ERR_reason_error_string(code);
}

#endif
