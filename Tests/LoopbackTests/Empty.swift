// LoopbackTests
