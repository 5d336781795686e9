// SignalingTransport
