import COpenSSL

/// The client's side of one TLS connection, without a socket: its owner carries the bytes to the peer and back.
///
/// Confined to one thread. Verifies that the peer's certificate is for the server's name or address.
package final class TLSClient {
    /// What bytes of the peer contained.
    package struct Reading {
        /// What the peer has written.
        package var content: [UInt8] = []
        /// Whether the peer has ended its side, after the content.
        package var isEnd = false
        /// Why the connection is of no use any more, after the content.
        package var failure: TLSFailure?
    }

    private static let readByteCount = 16_384

    private let connection: OpaquePointer
    /// What the peer has sent, and what is to be sent to it. The connection owns both.
    private let (input, output): (OpaquePointer, OpaquePointer)
    private let context: TLSContext
    private let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: readByteCount, alignment: 1)

    /// - Parameter server: the name, or the IP address, that the server's certificate must be for.
    package init(_ context: TLSContext, server: String) throws(TLSFailure) {
        self.context = context
        (connection, input, output) = try withOpenSSL { () throws(TLSFailure) in
            guard let connection = SSL_new(context.pointer) else { throw .other(.lastOpenSSLReason) }
            guard let input = BIO_new(BIO_s_mem()), let output = BIO_new(BIO_s_mem()) else {
                SSL_free(connection)
                throw .other(.lastOpenSSLReason)
            }
            SSL_set_bio(connection, input, output)
            SSL_set_connect_state(connection)
            guard Self.expect(server, connection) else {
                SSL_free(connection)
                throw .other("\(server) cannot be the name of a server")
            }
            return (connection, input, output)
        }
    }

    deinit {
        SSL_free(connection)
        scratch.deallocate()
    }

    private static func expect(_ server: String, _ connection: OpaquePointer) -> Bool {
        // Addresses are not sent (RFC 6066 section 3).
        if X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(connection), server) == 1 { return true }
        return SSL_set1_host(connection, server) == 1 && signalbox_tls_set_server_name(connection, server) == 1
    }

    /// Whether the handshake is done, and the server's certificate is verified.
    package var isOpen: Bool { SSL_is_init_finished(connection) == 1 }

    /// Begins the handshake.
    package func begin() { _ = withOwnErrors { SSL_do_handshake(connection) } }

    /// Takes bytes of the peer.
    package func receive(_ bytes: UnsafeRawBufferPointer) -> Reading {
        withOwnErrors {
            var reading = Reading()
            var count = 0
            guard BIO_write_ex(input, bytes.baseAddress, bytes.count, &count) == 1, count == bytes.count else {
                reading.failure = .other(.lastOpenSSLReason)
                return reading
            }
            // Also goes on with the handshake.
            var outcome = SSL_read_ex(connection, scratch.baseAddress, scratch.count, &count)
            while outcome == 1 {
                reading.content += scratch.prefix(count)
                outcome = SSL_read_ex(connection, scratch.baseAddress, scratch.count, &count)
            }
            switch SSL_get_error(connection, outcome) {
            case SSL_ERROR_WANT_READ: break
            case SSL_ERROR_ZERO_RETURN: reading.isEnd = true
            default: reading.failure = failure
            }
            return reading
        }
    }

    private var failure: TLSFailure {
        let verification = SSL_get_verify_result(connection)
        return Int32(verification) == X509_V_OK
            ? TLSFailure(error: ERR_peek_last_error()) : TLSFailure(verification: verification)
    }

    /// Encrypts bytes for the peer. Only when ``isOpen``.
    package func write(_ bytes: [UInt8]) -> TLSFailure? {
        withOwnErrors {
            var count = 0
            // Memory takes all of it.
            return SSL_write_ex(connection, bytes, bytes.count, &count) == 1 ? nil : failure
        }
    }

    /// What is to be sent to the peer. Also after a failure, which it tells the peer.
    package func takeOutput() -> [UInt8] {
        let count = BIO_ctrl_pending(output)
        if count == 0 { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { bytes, read in
            BIO_read_ex(output, bytes.baseAddress, count, &read)
        }
    }
}

/// Runs calls of a connection, with the thread's queue of errors for themselves.
///
/// Unlike `withOpenSSL`, it takes errors of others: a handshake empties the queue anyway, and `SSL_get_error` needs it
/// empty. Nothing waits there that anybody would read: the transport reads an error in the call that has caused it.
private func withOwnErrors<Value>(_ calls: () -> Value) -> Value {
    ERR_clear_error()
    defer { ERR_clear_error() }
    return calls()
}
