// SignalingTokens
