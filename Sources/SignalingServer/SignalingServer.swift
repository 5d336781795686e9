// SignalingServer
