import SignalingProtocol

@testable import SignalingCore

/// Describes a value with all of its stored properties, so that two values with the same portrait are the same for
/// every purpose. A property that is added later is part of the portrait at once.
///
/// Left out is only what cannot be observed: the order of dictionaries and sets, empty seats, and losses that do not
/// count any more; and what belongs to one node alone.
func portrait(_ value: Any) -> String {
    switch value {
    case let bytes as [UInt8]: return String(decoding: bytes, as: UTF8.self).debugDescription
    case let text as String: return text.debugDescription
    case let line as EncodedLine:
        return portrait(line.bytes) + (line.insertion.map { " with \(portrait($0.bytes)) at \($0.offset)" } ?? "")
    case let roster as Roster: return "\(roster.members.map(portrait)) \(portrait(roster.list))"
    case let detachments as Detachments: return portrait(detachments.losses)
    case let changeables as Changeables:
        // The numbers of authors and types do not matter, nor what was forgotten.
        var writer = ByteWriter(capacity: 64)
        writer.write(changeables)
        return portrait(writer.bytes)
    default: break
    }
    let mirror = Mirror(reflecting: value)
    let children = mirror.children.filter { $0.label != "onlineOnlyAllowance" }.map {
        ($0.label.map { "\($0): " } ?? "") + portrait($0.value)
    }
    switch mirror.displayStyle {
    case .set, .dictionary: return "{\(children.sorted().joined(separator: ", "))}"
    case .none: return "\(value)"
    case .enum where children.isEmpty: return "\(value)"
    default: return "\(type(of: value))(\(children.joined(separator: ", ")))"
    }
}
