/// A command in Redis' protocol (RESP2).
package struct RedisCommand {
    package private(set) var bytes: [UInt8]

    /// - Parameter count: how many arguments will be added, the name of the command included.
    package init(argumentCount count: Int) {
        bytes = Array("*\(count)\r\n".utf8)
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
        bytes.append(UInt8(ascii: "$"))
        bytes.append(contentsOf: String(value.count).utf8)
        bytes.append(13)
        bytes.append(10)
        bytes.append(contentsOf: value)
        bytes.append(13)
        bytes.append(10)
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
