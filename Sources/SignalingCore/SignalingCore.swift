// SignalingCore
