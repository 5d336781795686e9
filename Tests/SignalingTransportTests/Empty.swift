// SignalingTransportTests
