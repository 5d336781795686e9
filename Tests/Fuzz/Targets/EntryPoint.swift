#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The target that the variable SIGNALBOX_FUZZ_TARGET names.
private let target: FuzzTarget = {
    let name = getenv("SIGNALBOX_FUZZ_TARGET").map { String(cString: $0) } ?? ""
    guard let target = FuzzTarget(rawValue: name) else {
        fatalError("SIGNALBOX_FUZZ_TARGET is \"\(name)\". Use one of \(FuzzTarget.allCases.map(\.rawValue)).")
    }
    return target
}()

/// libFuzzer has the program's main function, and calls this for every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    target.run(UnsafeRawBufferPointer(start: start, count: count))
    return 0
}
