// SignalingCoreTests
