/// A command in Redis' protocol (RESP2).
package struct RedisCommand {
    /// With a zero at the end: hiredis looks for the ends of arguments as in a C string.
    package private(set) var terminatedBytes: [UInt8]

    package var byteCount: Int { terminatedBytes.count - 1 }

    /// - Parameter count: how many arguments will be added, the name of the command included.
    package init(argumentCount count: Int) {
        terminatedBytes = Array("*\(count)\r\n\0".utf8)
    }

    package init(_ arguments: String...) {
        self.init(arguments)
    }

    package init(_ arguments: [String]) {
        self.init(argumentCount: arguments.count)
        for argument in arguments { add(argument) }
    }

    package mutating func add(_ text: String) {
        var text = text
        text.withUTF8 { add($0) }
    }

    package mutating func add(_ value: [UInt8]) {
        value.withUnsafeBufferPointer { add($0) }
    }

    private mutating func add(_ value: UnsafeBufferPointer<UInt8>) {
        terminatedBytes.removeLast()
        terminatedBytes.append(UInt8(ascii: "$"))
        terminatedBytes.append(contentsOf: String(value.count).utf8)
        terminatedBytes.append(13)
        terminatedBytes.append(10)
        terminatedBytes.append(contentsOf: value)
        terminatedBytes.append(13)
        terminatedBytes.append(10)
        terminatedBytes.append(0)
    }
}

extension RedisCommand {
    /// A call of a function of the library.
    ///
    /// - Parameter extraCount: how many arguments the caller will add.
    init(_ function: RedisFunction, key: String? = nil, _ arguments: [String] = [], extraCount: Int = 0) {
        self.init(argumentCount: 3 + (key == nil ? 0 : 1) + arguments.count + extraCount)
        add("FCALL")
        add(FunctionLibrary.name(function))
        if let key {
            add("1")
            add(key)
        } else {
            add("0")
        }
        for argument in arguments { add(argument) }
    }
}
