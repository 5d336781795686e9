/// Numbers for values, in the order in which they come, so that an event needs few bytes.
struct Numbering<Value: Hashable & Sendable>: Sendable {
    private var values: [Value] = []
    private var numbers: [Value: Int32] = [:]

    subscript(number: Int32) -> Value { values[Int(number)] }

    mutating func number(of value: Value) -> Int32 {
        if let known = numbers[value] { return known }
        let number = Int32(values.count)
        values.append(value)
        numbers[value] = number
        return number
    }

    /// nil for a value that has no number yet.
    func known(_ value: Value) -> Int32? { numbers[value] }
}
