import Foundation
import FoundationNetworking

// CoreFoundation's names, which Foundation brings along on Apple's systems.
public final class CFData {}
public final class CFArray {}
public final class CFAllocator {}
public final class CFError {}
public typealias OSStatus = Int32

public final class SecCertificate {}
public final class SecTrust {}

// swift-format-ignore: AlwaysUseLowerCamelCase
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? { nil }
// swift-format-ignore: AlwaysUseLowerCamelCase
@discardableResult
public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ anchors: CFArray?) -> OSStatus { 0 }
// swift-format-ignore: AlwaysUseLowerCamelCase
@discardableResult
public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ only: Bool) -> OSStatus { 0 }
// swift-format-ignore: AlwaysUseLowerCamelCase
public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?) -> Bool { false }

extension URLProtectionSpace { public var serverTrust: SecTrust? { nil } }
extension URLCredential { public convenience init(trust: SecTrust) { fatalError("a stand-in") } }
