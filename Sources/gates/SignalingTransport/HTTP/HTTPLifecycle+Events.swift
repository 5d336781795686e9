// What goes into the machine and what comes out of it, and the parts of its states.

extension HTTPLifecycle {
    /// The progress of a streamed response.
    enum StreamPhase {
        /// Nothing waits for the client.
        case flowing
        /// Bytes wait for the client, which must take some of them within the time for a response.
        case backlogged
        /// The handler or the server has ended it. The client must take the rest within the time for a response.
        case ending
        /// Everything is sent. Input is discarded until the client closes its side, too: closing with unread input resets
        /// the connection, and the reset destroys the end of the response.
        case lingering
    }

    /// The conditions for the response to the current request.
    struct Reply: Equatable {
        /// The response goes without its body.
        let isHead: Bool
        /// Whether the client knows chunked bodies: not with HTTP/1.0.
        let acceptsChunks: Bool
        /// Whether another request may follow on this connection.
        var keepsAlive: Bool
        var bodyDelivery: BodyDelivery
    }

    /// The library's progress with the request's body.
    enum BodyDelivery {
        /// By its own reading of the headers the library delivers no body; it may still report the end of an empty one.
        case none
        case arriving
        /// The library has reported the end. If it does so again, close the connection: 4.1.6 would repeat the report
        /// without end.
        case completed
    }

    /// A request's head, and what to do with the request.
    struct RequestHead {
        enum Disposition {
            /// Answer it and close the connection: the start of the next request is unknown or not trustworthy.
            case refuse(HTTPResponse)
            /// Answer it without the handler.
            case answer(HTTPResponse)
            /// It has no body.
            case handOver(Exchange)
            /// `expectsContinue`: the client waits for `100 Continue` before it sends the body.
            case receive(Exchange, RequestBody, expectsContinue: Bool)
        }

        var isHead = false
        var acceptsChunks = true
        /// Whether the client permits another request, by its version and `Connection`.
        var keepsAlive = true
        /// Whether the library delivers a body, by its own reading of the headers.
        var hasLibraryBody = false
        /// Whether bytes that came behind this head were already read. Matters if a request was served before.
        var isPipelined = false
        var disposition: Disposition
    }

    enum Event {
        case adopted
        case requestArrived(RequestHead)
        /// A request without a method or path that the library knows.
        case requestUnreadable
        case bodyArrived(UnsafeRawBufferPointer)
        case bodyCompleted
        case responded(Exchange, HTTPResponse)
        /// The handler responds with this head, and with a body that it writes piece by piece.
        case streamBegun(Exchange, HTTPResponse)
        /// The client has not taken all that was written. `hasSent`: it has taken some.
        case streamDelayed(hasSent: Bool)
        /// Everything that was written is with the client's socket.
        case streamDrained
        /// The handler has written everything.
        case streamEnded
        /// The client does not read fast enough, or other sockets have their turn first; the rest is sent later.
        case responseDelayed
        case responseSent
        case writeFailed
        /// The library refuses to wait for another request.
        case nextRequestRefused
        /// Input was discarded while the response waits for the client: pipelined requests.
        case inputDiscarded
        /// The client has closed its side while the response waits for it, or during a streamed response.
        case clientHungUp
        case deadlinePassed
        /// The server stops.
        case drainRequested
        case terminateRequested
        /// The connection becomes a WebSocket.
        case upgraded
        /// A handshake was refused, and the refusal sent.
        case upgradeRefused
        /// None of the library's callbacks runs: connections can be closed now.
        case turnEnded
        /// The library has closed the connection. May come more than once.
        case connectionEnded
    }

    enum Deadline {
        case request, answer, response, keepAlive, linger
    }

    enum Effect {
        case startDeadline(Deadline)
        case clearDeadline
        /// Write `100 Continue`.
        case sendContinue
        /// While the handler works, 4.1.6 does not read, and a readable socket would keep the loop spinning.
        case pauseReading
        /// Until then the library does not serve the connection as writable either.
        case resumeReading
        case handOver(Exchange, body: [UInt8])
        /// The handler has taken too long: respond with what the exchange has for this case.
        case answerOverdue(Exchange)
        case send(HTTPResponse, isHead: Bool, keepsAlive: Bool)
        /// Send the head, and from now on what the handler writes.
        case beginStream(HTTPResponse, StreamFraming)
        /// Mark the end of the body.
        case finishStream
        /// Tell the handler that the stream has ended, unless it was told before.
        case reportStreamEnd
        /// Report the end, and stop reading and writing.
        case endStream
        /// While a response waits, discard input at the end of each turn.
        case startDiscardingInput
        case stopDiscardingInput
        case awaitNextRequest
        /// Shut down the sending side, and continue to read.
        case shutDownWriting
        /// Call back with `turnEnded` when this turn of the loop ends.
        case closeAtTurnEnd
        /// End the connection at once.
        case cut
        /// The library does not know the connection: release it.
        case release
    }
}

extension HTTPLifecycle.Deadline {
    /// How long a refused body, or what arrives behind a streamed response, is read and discarded.
    private static var lingerTime: Duration { .seconds(2) }

    func duration(_ options: TransportServer.Options) -> Duration {
        switch self {
        case .request: options.requestTimeout
        case .answer: options.answerTimeout
        case .response: options.responseTimeout
        case .keepAlive: options.keepAliveTimeout
        case .linger: Self.lingerTime
        }
    }
}
