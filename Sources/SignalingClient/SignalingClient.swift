// SignalingClient
