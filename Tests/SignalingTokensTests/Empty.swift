// SignalingTokensTests
