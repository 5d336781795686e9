/// A promise that was not kept.
public struct Violation: Hashable, Sendable, CustomStringConvertible {
    public enum Promise: String, CaseIterable, Sendable {
        case g1 = "G1"
        case g2 = "G2"
        case g3 = "G3"
        case g4 = "G4"
        case g5 = "G5"
        case g6 = "G6"
        case g7 = "G7"
        case g8 = "G8"
        case h1 = "H1"
        case h2 = "H2"
        case h3 = "H3"
        case m1 = "M1"
        case c1 = "C1"
        case c2 = "C2"
        case c3 = "C3"
        case f1 = "F1"
        case f2 = "F2"
        /// Of read markers.
        case read1 = "READ-1"

        /// Those of sessions with a history.
        public static let ofHistory: [Promise] = [.h1, .h2, .h3]
        /// Those of messages that change.
        public static let ofChanges: [Promise] = [.c1, .c2, .c3]
        /// Those of the feed of a project.
        public static let ofFeed: [Promise] = [.f1, .f2]
    }

    public enum Kind: Sendable {
        case missing, duplicate, reordered
        /// A client received something that is not true.
        case wrong
    }

    public var promise: Promise
    public var kind: Kind
    public var text: String

    public init(_ promise: Promise, _ kind: Kind, _ text: String) {
        self.promise = promise
        self.kind = kind
        self.text = text
    }

    public var description: String { "\(promise.rawValue): \(text)" }
}

/// The violations that the judges have found, in the order in which they found them.
struct Findings: Sendable {
    private(set) var violations: [Violation] = []

    mutating func add(_ promise: Violation.Promise, _ kind: Violation.Kind, _ text: String) {
        violations.append(Violation(promise, kind, text))
    }
}
