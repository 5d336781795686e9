import JSONText
import SignalingCore
import SignalingProtocol
import SignalingTransport

/// Moderation by HTTP (MOD-7), the same for backends and for operators.
extension Hub where Environment == LoopEnvironment {
    /// Carries an action out, and responds with its seq.
    func moderate(_ action: JSONValue, in session: SessionID, for exchange: HTTPExchange) throws(SignalingError) {
        let request = try ModerationRequest(body: action)
        exchange.overdueResponse = .undecided
        moderate(request, in: session) { exchange.respond(.answer(to: $0)) }
    }

    /// Responds with what holds, and with the latest actions.
    ///
    /// - Parameter charge: counts the items for the caller's rate (REST-6).
    func listModeration(of session: SessionID, for exchange: HTTPExchange, charge: @escaping (Int) -> Void) {
        readModeration(of: session) { reading in
            switch reading {
            case .report(let report):
                charge(report.restrictions.count + report.actions.count)
                exchange.respond(.json(encoded: report.body))
            case .absent:
                exchange.respond(.failure(.notFound, "there is no such session: nobody has joined it, or it has ended"))
            case .unavailable: exchange.respond(.answer(to: .unavailable(mayBeCarriedOut: false)))
            }
        }
    }
}

extension ModerationReport {
    /// `{"restrictions":[…],"actions":[…]}`
    var body: [UInt8] {
        var writer = JSONWriter(reservingCapacity: 256 * (restrictions.count + actions.count))
        writer.beginObject()
        writer.name("restrictions")
        writer.beginArray()
        for record in restrictions { record.write(to: &writer) }
        writer.endArray()
        writer.name("actions")
        writer.beginArray()
        for action in actions {
            writer.beginObject()
            writer.member("seq", action.seq.rawValue)
            writer.member("time", action.time.milliseconds)
            action.event.writeMembers(to: &writer)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return writer.bytes
    }
}
