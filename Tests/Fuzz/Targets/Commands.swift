import SignalingProtocol

@testable import SignalingCore

/// Bytes that are read are the bytes of what was read. The first byte chooses a command of the log, a signal between
/// nodes, or a session's state.
func fuzzCommands(_ bytes: UnsafeRawBufferPointer) {
    guard let kind = bytes.first else { return }
    let content = Array(bytes.dropFirst())
    switch kind % 3 {
    case 0:
        guard let command = try? LoggedCommand(decoding: content) else { return }
        let rules = LoggedCommand.rules(of: content)
        precondition(command.encoded(by: rules) == content, "other bytes for one command")
    case 1:
        guard let signal = try? RelayedSignal(decoding: content) else { return }
        precondition(signal.encoded() == content, "other bytes for one signal")
    default:
        guard let state = try? SessionState(decoding: content) else { return }
        let written = state.encoded()
        guard let again = try? SessionState(decoding: written) else {
            preconditionFailure("cannot read what was written")
        }
        precondition(again.encoded() == written, "other bytes for one state")
    }
}
