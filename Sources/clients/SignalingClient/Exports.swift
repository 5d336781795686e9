// Programs that use a session need the types of connections, signals and errors: one import provides them.
@_exported import SignalingProtocol
