import CLibwebsockets

// The C entry points. Each unwraps its arguments, calls one method and returns 0 to go on or -1 to close.
//
// libwebsockets calls on the loop's thread, and for one connection at a time. A connection's opaque pointer does not
// retain its object: the server does, until `LWS_CALLBACK_WSI_DESTROY`, the last callback of a connection.

/// Protocol 0 of the server's vhost: HTTP, and the start and end of every connection.
func serverHTTPCallback(
    _ wsi: OpaquePointer?, _ reason: lws_callback_reasons, _ user: UnsafeMutableRawPointer?,
    _ input: UnsafeMutableRawPointer?, _ count: Int
) -> Int32 {
    switch reason {
    case LWS_CALLBACK_HTTP:
        return owner(of: wsi, as: HTTPConnection.self)?.headArrived() ?? -1
    case LWS_CALLBACK_HTTP_BODY:
        let bytes = UnsafeRawBufferPointer(start: input, count: input == nil ? 0 : count)
        return owner(of: wsi, as: HTTPConnection.self)?.bodyArrived(bytes) ?? -1
    case LWS_CALLBACK_HTTP_BODY_COMPLETION:
        return owner(of: wsi, as: HTTPConnection.self)?.bodyCompleted() ?? -1
    case LWS_CALLBACK_HTTP_WRITEABLE:
        return owner(of: wsi, as: HTTPConnection.self)?.becameWritable() ?? -1
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
        return owner(of: wsi, as: HTTPConnection.self)?.upgradeRequested(input) ?? -1
    case LWS_CALLBACK_CLOSED_HTTP:
        owner(of: wsi, as: HTTPConnection.self)?.connectionEnded()
        return 0
    case LWS_CALLBACK_WSI_DESTROY:
        connectionDestroyed(owner(of: wsi, as: AnyObject.self))
        return 0
    case LWS_CALLBACK_OPENSSL_LOAD_EXTRA_SERVER_VERIFY_CERTS:
        if let wsi, let user { LWSContext.serverTLSContextCreated(wsi, user) }
        return 0
    case LWS_CALLBACK_OPENSSL_PERFORM_SERVER_CERT_VERIFICATION:
        certificateVerified(wsi, user, isTrusted: count != 0)
        return 0
    // CONNECT would turn a connection into a raw one, and a handshake without sub-protocol into a WebSocket of protocol
    // 0.
    case LWS_CALLBACK_RAW_ADOPT, LWS_CALLBACK_RAW_CONNECTED, LWS_CALLBACK_RAW_RX,
        LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION, LWS_CALLBACK_ESTABLISHED:
        return -1
    default:
        return 0
    }
}

/// Protocol 1 of the server's vhost: the WebSocket sub-protocol.
func serverSocketCallback(
    _ wsi: OpaquePointer?, _ reason: lws_callback_reasons, _ user: UnsafeMutableRawPointer?,
    _ input: UnsafeMutableRawPointer?, _ count: Int
) -> Int32 {
    switch reason {
    case LWS_CALLBACK_RECEIVE:
        let bytes = UnsafeRawBufferPointer(start: input, count: input == nil ? 0 : count)
        return owner(of: wsi, as: ServerSocket.self)?.received(bytes) ?? -1
    case LWS_CALLBACK_SERVER_WRITEABLE:
        return owner(of: wsi, as: ServerSocket.self)?.becameWritable() ?? -1
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
        return owner(of: wsi, as: HTTPConnection.self)?.becomeSocket() == nil ? -1 : 0
    case LWS_CALLBACK_ESTABLISHED:
        return owner(of: wsi, as: ServerSocket.self)?.handshakeCompleted() ?? -1
    case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
        let payload = UnsafeRawBufferPointer(start: input, count: input == nil ? 0 : count)
        return owner(of: wsi, as: ServerSocket.self)?.peerCloseReceived(payload) ?? 0
    case LWS_CALLBACK_WS_SERVER_DROP_PROTOCOL:
        owner(of: wsi, as: ServerSocket.self)?.libraryCloses()
        return 0
    case LWS_CALLBACK_CLOSED:
        owner(of: wsi, as: ServerSocket.self)?.connectionEnded()
        return 0
    default:
        return 0
    }
}

/// Both protocols of a client vhost.
func clientCallback(
    _ wsi: OpaquePointer?, _ reason: lws_callback_reasons, _ user: UnsafeMutableRawPointer?,
    _ input: UnsafeMutableRawPointer?, _ count: Int
) -> Int32 {
    // Most reasons do not matter here, and some come with a placeholder instead of a connection.
    switch reason {
    case LWS_CALLBACK_CLIENT_RECEIVE, LWS_CALLBACK_CLIENT_WRITEABLE, LWS_CALLBACK_CLIENT_FILTER_PRE_ESTABLISH,
        LWS_CALLBACK_CLIENT_ESTABLISHED, LWS_CALLBACK_CLIENT_CONNECTION_ERROR, LWS_CALLBACK_WS_PEER_INITIATED_CLOSE,
        LWS_CALLBACK_WS_CLIENT_DROP_PROTOCOL, LWS_CALLBACK_CLIENT_CLOSED, LWS_CALLBACK_WSI_DESTROY:
        break
    case LWS_CALLBACK_OPENSSL_PERFORM_SERVER_CERT_VERIFICATION:
        certificateVerified(wsi, user, isTrusted: count != 0)
        return 0
    default: return 0
    }
    guard let wsi, let client = LWSContext.client(of: wsi) else { return 0 }
    let bytes = UnsafeRawBufferPointer(start: input, count: input == nil ? 0 : count)
    switch reason {
    case LWS_CALLBACK_CLIENT_RECEIVE: return client.received(wsi, bytes)
    case LWS_CALLBACK_CLIENT_WRITEABLE: return client.becameWritable()
    case LWS_CALLBACK_CLIENT_FILTER_PRE_ESTABLISH: return client.serverAnswered(wsi)
    case LWS_CALLBACK_CLIENT_ESTABLISHED: return client.handshakeCompleted()
    case LWS_CALLBACK_CLIENT_CONNECTION_ERROR: client.connectFailed(wsi, bytes)
    case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE: return client.peerCloseReceived(bytes)
    case LWS_CALLBACK_WS_CLIENT_DROP_PROTOCOL: client.libraryCloses()
    case LWS_CALLBACK_WSI_DESTROY: client.destroyed()
    default: client.connectionEnded()
    }
    return 0
}

/// Called for a client's connection, but on protocol 0 of the context's first vhost.
private func certificateVerified(_ wsi: OpaquePointer?, _ store: UnsafeMutableRawPointer?, isTrusted: Bool) {
    guard !isTrusted, let wsi, let store, let client = LWSContext.client(of: wsi) else { return }
    let code = X509_STORE_CTX_get_error(OpaquePointer(store))
    client.certificateRefused(String(cString: X509_verify_cert_error_string(Int(code))))
}

/// The object behind a connection. nil for the library's own connections, and for the placeholder that some callbacks
/// pass instead of a connection.
private func owner<Owner: AnyObject>(of wsi: OpaquePointer?, as type: Owner.Type) -> Owner? {
    guard let wsi, let opaque = lws_get_opaque_user_data(wsi) else { return nil }
    return Unmanaged<AnyObject>.fromOpaque(opaque).takeUnretainedValue() as? Owner
}

private func connectionDestroyed(_ object: AnyObject?) {
    switch object {
    case let connection as HTTPConnection:
        connection.destroyed()
    case let socket as ServerSocket:
        socket.destroyed()
    default: break
    }
}
