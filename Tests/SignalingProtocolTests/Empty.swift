// SignalingProtocolTests
