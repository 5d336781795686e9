#if SIGNALBOX_JSONC
    import JSONC
    import JSONText
    import TestSupport
    import Testing

    @Suite("JSON by Swift and by json-c")
    struct TwoParsersTests {
        private static let limits = [
            JSONLimits.standard, JSONLimits(depth: 2), JSONLimits(byteCount: 40), JSONLimits(valueCount: 5),
            JSONLimits(depth: 256),
        ]

        @Test(
            "WIRE-4: both give the same values and the same faults, for each vector and each beginning of it",
            arguments: try Vectors.cases("json/accepted.json") + Vectors.cases("json/refused.json"))
        func vectors(_ vector: VectorCase) throws {
            let bytes = try #require(vector.bytes)
            // The beginnings of a hundred thousand brackets would only cost time.
            for end in bytes.count > 2_000 ? [bytes.count] : Array(0...bytes.count) {
                for limits in Self.limits { expectSame(bytes[..<end], limits) }
            }
        }

        @Test("WIRE-4: both give the same for mutated texts", arguments: [11, 12, 13] as [UInt64])
        func mutations(seed: UInt64) throws {
            var random = SeededGenerator(seed: seed)
            let seeds = try (Vectors.cases("json/accepted.json") + Vectors.cases("json/refused.json"))
                .compactMap(\.bytes).filter { $0.count < 2_000 }
            for _ in 0..<4_000 {
                var bytes = seeds.randomElement(using: &random) ?? []
                for _ in 0...Int.random(in: 0..<4, using: &random) { mutate(&bytes, &random) }
                expectSame(bytes[...], Self.limits.randomElement(using: &random) ?? .standard)
            }
        }

        @Test(
            "both read the same numbers",
            arguments: [
                "-0", "-0.0", "0e0", "1e-400", "-1e-400", "5e-324", "2.4e-324", "1.7976931348623157e308", "1.8e308",
                "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "1E+2",
                "0.1000000000000000055511151231257827021181583404541015625", "123456789012345678901234567890.5",
            ])
        func numbers(_ text: String) {
            expectSame(Array(text.utf8)[...], .standard)
            expectSame(Array(#"{"a":[\#(text)]}"#.utf8)[...], .standard)
        }

        @Test(
            "both report the first of several faults",
            arguments: [
                #"{"a":1,"a":2,}"#, #"{"a":{"b":1,"b":2},"a":3}"#, #"{"b":1,"a":{"c":1,"c":2},"b":3}"#,
                #"{"a":1,"\u0061":2}"#, #"[{"a":1,"a":2},1e999]"#, #"{"é":1,"é":2}"#, #"{"":1,"":2}"#,
                #"{"a":1,"a":["\ud800"]}"#, #"{"\u0000":1,"a":1,"a":2}"#, #"{"a":1,"a":[[[]]]}"#,
            ])
        func faults(_ text: String) {
            for limits in Self.limits { expectSame(Array(text.utf8)[...], limits) }
        }

        /// Equal values may differ in the order of members, in the form of a number and of a text; equal bytes do not.
        private func expectSame(_ bytes: ArraySlice<UInt8>, _ limits: JSONLimits) {
            var ours = JSONParser(limits: limits)
            var judge = JSONCParser(limits: limits)
            let read = Result { () throws(JSONError) in try ours.parse(bytes).encoded() }
            let judged = Result { () throws(JSONError) in try judge.parse(bytes).encoded() }
            #expect(read == judged, "\(String(decoding: bytes, as: UTF8.self))")
        }
    }
#endif
