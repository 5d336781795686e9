// A program that uses a session speaks of connections, signals and errors: one import brings their types along.
@_exported import SignalingProtocol
