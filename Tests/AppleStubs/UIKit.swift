import Foundation

@MainActor
public class UIApplication {
    public class var didEnterBackgroundNotification: NSNotification.Name { NSNotification.Name("") }
    public class var willEnterForegroundNotification: NSNotification.Name { NSNotification.Name("") }
}

@MainActor open class UIView { public func addSubview(_ view: UIView) {} }
@MainActor open class UIViewController {
    public init() {}
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    public var view: UIView! { nil }
}
