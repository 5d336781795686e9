import Foundation
import Observation

public typealias CGFloat = Double

@MainActor @preconcurrency
public protocol View {
    associatedtype Body: View
    @ViewBuilder @MainActor @preconcurrency var body: Self.Body { get }
}

extension Never: View { public var body: Never { fatalError("a stand-in") } }
extension Optional: View where Wrapped: View { public var body: Never { fatalError("a stand-in") } }

@resultBuilder
public struct ViewBuilder {
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> TupleView<
        (repeat each Content)
    > {
        TupleView()
    }
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock() -> EmptyView { EmptyView() }
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
    public static func buildEither<First: View, Second: View>(first: First) -> Either<First, Second> { Either() }
    public static func buildEither<First: View, Second: View>(second: Second) -> Either<First, Second> { Either() }
}

public struct TupleView<Content>: View { public var body: Never { fatalError("a stand-in") } }
public struct Either<First, Second>: View { public var body: Never { fatalError("a stand-in") } }

public struct EmptyView: View {
    public init() {}
    public var body: Never { fatalError("a stand-in") }
}

// MARK: State

public struct EnvironmentValues { public var scenePhase: ScenePhase { .active } }
public enum ScenePhase: Comparable, Sendable { case background, inactive, active }

@propertyWrapper
public struct Environment<Value> {
    public init(_ keyPath: KeyPath<EnvironmentValues, Value>) {}
    public var wrappedValue: Value { fatalError("a stand-in") }
}

@propertyWrapper
public struct ScaledMetric<Value> {
    public init(wrappedValue: Value, relativeTo textStyle: Font.TextStyle) {}
    public var wrappedValue: Value { fatalError("a stand-in") }
}

@propertyWrapper
public struct State<Value> {
    public init(wrappedValue: Value) { fatalError("a stand-in") }
    public var wrappedValue: Value {
        get { fatalError("a stand-in") }
        nonmutating set {}
    }
    public var projectedValue: Binding<Value> { fatalError("a stand-in") }
}

@propertyWrapper
public struct Binding<Value> {
    public init(get: @escaping () -> Value, set: @escaping (Value) -> Void) {}
    public var wrappedValue: Value {
        get { fatalError("a stand-in") }
        nonmutating set {}
    }
}

@propertyWrapper @dynamicMemberLookup
public struct Bindable<Value> {
    public var wrappedValue: Value
    public init(wrappedValue: Value) where Value: AnyObject, Value: Observable { self.wrappedValue = wrappedValue }
    public init(_ wrappedValue: Value) where Value: AnyObject, Value: Observable { self.wrappedValue = wrappedValue }
    public var projectedValue: Bindable<Value> { self }
    public subscript<Subject>(dynamicMember keyPath: ReferenceWritableKeyPath<Value, Subject>) -> Binding<Subject>
    where Value: AnyObject { fatalError("a stand-in") }
}

// MARK: Views

public enum HorizontalAlignment { case leading, center, trailing }
public enum VerticalAlignment { case top, center, bottom }
public struct Alignment: Sendable {
    public static let leading = Alignment()
    public static let trailing = Alignment()
    public static let bottom = Alignment()
    public static let center = Alignment()
}
public enum Axis {
    case horizontal, vertical
    public struct Set: OptionSet, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }
        public static let vertical = Set(rawValue: 1)
        public static let horizontal = Set(rawValue: 2)
    }
}

public struct VStack<Content: View>: View {
    public init(
        alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content
    ) {}
    public var body: Never { fatalError("a stand-in") }
}
public struct LazyVStack<Content: View>: View {
    public init(
        alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content
    ) {}
    public var body: Never { fatalError("a stand-in") }
}
public struct HStack<Content: View>: View {
    public init(
        alignment: VerticalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content
    ) {}
    public var body: Never { fatalError("a stand-in") }
}
public struct ScrollView<Content: View>: View {
    public init(_ axes: Axis.Set = .vertical, @ViewBuilder content: () -> Content) {}
    public var body: Never { fatalError("a stand-in") }
}
public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content: View>: View {
    public init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content)
    where Data.Element: Identifiable, ID == Data.Element.ID {}
    public init(
        _ data: Data, id: KeyPath<Data.Element, ID>, @ViewBuilder content: @escaping (Data.Element) -> Content
    ) {}
    public var body: Never { fatalError("a stand-in") }
}
public struct Menu<Label: View, Content: View>: View {
    public init<S: StringProtocol>(_ title: S, @ViewBuilder content: () -> Content) where Label == Text {}
    public var body: Never { fatalError("a stand-in") }
}
public struct ScrollViewReader<Content: View>: View {
    public init(@ViewBuilder content: @escaping (ScrollViewProxy) -> Content) {}
    public var body: Never { fatalError("a stand-in") }
}
public struct ScrollViewProxy { public func scrollTo<ID: Hashable>(_ id: ID, anchor: UnitPoint? = nil) {} }
public struct Text: View {
    public init(_ attributedContent: AttributedString) {}
    public init<S: StringProtocol>(_ content: S) {}
    public func font(_ font: Font?) -> Text { self }
    public func foregroundStyle<S: ShapeStyle>(_ style: S) -> Text { self }
    public var body: Never { fatalError("a stand-in") }
}
public struct Spacer: View {
    public init(minLength: CGFloat? = nil) {}
    public var body: Never { fatalError("a stand-in") }
}
public struct Button<Label: View>: View {
    public init(action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label) {}
    public init<S: StringProtocol>(_ title: S, action: @escaping @MainActor () -> Void) where Label == Text {}
    public init<S: StringProtocol>(_ title: S, role: ButtonRole?, action: @escaping @MainActor () -> Void)
    where Label == Text {}
    public var body: Never { fatalError("a stand-in") }
}
public struct TextField<Label: View>: View {
    public init<S: StringProtocol>(_ title: S, text: Binding<String>, axis: Axis) where Label == Text {}
    public var body: Never { fatalError("a stand-in") }
}
public struct NavigationStack<Root: View>: View {
    public init(@ViewBuilder root: () -> Root) {}
    public var body: Never { fatalError("a stand-in") }
}

public struct ButtonRole: Sendable { public static let destructive = ButtonRole() }

public struct Font: Sendable {
    public enum TextStyle: Sendable { case caption, body }
    public static let caption = Font()
    public static let caption2 = Font()
    public static let footnote = Font()
}
public protocol ShapeStyle: Sendable {}
public struct HierarchicalShapeStyle: ShapeStyle {}
extension ShapeStyle where Self == HierarchicalShapeStyle {
    public static var secondary: HierarchicalShapeStyle { HierarchicalShapeStyle() }
}
public struct Color: ShapeStyle, View {
    public static let accentColor = Color()
    public static let primary = Color()
    public static let secondary = Color()
    public static let white = Color()
    public static let clear = Color()
    public static let teal = Color()
    public static let blue = Color()
    public static let purple = Color()
    public static let pink = Color()
    public static let orange = Color()
    public static let brown = Color()
    public static let green = Color()
    public static let gray = Color()
    public enum RGBColorSpace: Sendable { case sRGB }
    init() {}
    public init(_ space: RGBColorSpace, red: Double, green: Double, blue: Double, opacity: Double = 1) {}
    public func opacity(_ opacity: Double) -> Color { self }
    public var body: Never { fatalError("a stand-in") }
}
public protocol Shape: Sendable {}
public protocol InsettableShape: Shape {}
public struct Circle: InsettableShape { public init() {} }
public struct Capsule: InsettableShape { public init() {} }
public struct RoundedRectangle: InsettableShape { public init(cornerRadius: CGFloat) {} }
public struct Material: ShapeStyle {}
extension ShapeStyle where Self == Material { public static var thinMaterial: Material { Material() } }
public struct UnitPoint: Sendable {
    public static let top = UnitPoint()
    public static let bottom = UnitPoint()
}
public enum Visibility: Sendable { case automatic, visible, hidden }
public protocol TextFieldStyle {}
public struct RoundedBorderTextFieldStyle: TextFieldStyle { public init() {} }
extension TextFieldStyle where Self == RoundedBorderTextFieldStyle {
    public static var roundedBorder: RoundedBorderTextFieldStyle { RoundedBorderTextFieldStyle() }
}
public protocol TextSelectability {}
public struct EnabledTextSelectability: TextSelectability {}
extension TextSelectability where Self == EnabledTextSelectability {
    public static var enabled: EnabledTextSelectability { EnabledTextSelectability() }
}
public struct AccessibilityTraits: Sendable { public static let updatesFrequently = AccessibilityTraits() }
public struct AccessibilityChildBehavior: Sendable { public static let combine = AccessibilityChildBehavior() }
public struct Edge {
    public struct Set: OptionSet, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }
        public static let horizontal = Set(rawValue: 1)
        public static let vertical = Set(rawValue: 2)
        public static let all: Set = [.horizontal, .vertical]
    }
}

extension View {
    public func padding(_ edges: Edge.Set = .all, _ length: CGFloat? = nil) -> some View { self }
    public func padding(_ length: CGFloat) -> some View { self }
    public func font(_ font: Font?) -> some View { self }
    public func foregroundStyle<S: ShapeStyle>(_ style: S) -> some View { self }
    public func background<S: ShapeStyle>(_ style: S) -> some View { self }
    public func frame(
        minWidth: CGFloat? = nil, maxWidth: CGFloat? = nil, minHeight: CGFloat? = nil, maxHeight: CGFloat? = nil,
        alignment: Alignment = .center
    ) -> some View { self }
    public func background<S: ShapeStyle, T: InsettableShape>(_ style: S, in shape: T) -> some View { self }
    public func frame(width: CGFloat? = nil, height: CGFloat? = nil, alignment: Alignment = .center) -> some View {
        self
    }
    public func overlay<V: View>(alignment: Alignment = .center, @ViewBuilder content: () -> V) -> some View { self }
    public func id<ID: Hashable>(_ id: ID) -> some View { self }
    public func scrollTargetLayout(isEnabled: Bool = true) -> some View { self }
    public func scrollPosition(id: Binding<(some Hashable)?>, anchor: UnitPoint? = nil) -> some View { self }
    public func onChange<V: Equatable>(
        of value: V, initial: Bool = false, _ action: @escaping (_ oldValue: V, _ newValue: V) -> Void
    ) -> some View { self }
    public func contextMenu<MenuItems: View>(@ViewBuilder menuItems: () -> MenuItems) -> some View { self }
    public func confirmationDialog<S: StringProtocol, A: View, M: View, T>(
        _ title: S, isPresented: Binding<Bool>, titleVisibility: Visibility = .automatic, presenting data: T?,
        @ViewBuilder actions: (T) -> A, @ViewBuilder message: (T) -> M
    ) -> some View { self }
    public func confirmationDialog<S: StringProtocol, A: View, M: View>(
        _ title: S, isPresented: Binding<Bool>, titleVisibility: Visibility = .automatic, @ViewBuilder actions: () -> A,
        @ViewBuilder message: () -> M
    ) -> some View { self }
    public func disabled(_ disabled: Bool) -> some View { self }
    public func lineLimit(_ number: Int?) -> some View { self }
    public func lineLimit(_ limit: ClosedRange<Int>) -> some View { self }
    public func textFieldStyle<S: TextFieldStyle>(_ style: S) -> some View { self }
    public func textSelection<S: TextSelectability>(_ selectability: S) -> some View { self }
    public func defaultScrollAnchor(_ anchor: UnitPoint?) -> some View { self }
    public func navigationTitle<S: StringProtocol>(_ title: S) -> some View { self }
    public func onSubmit(_ action: @escaping () -> Void) -> some View { self }
    public func onAppear(perform action: (() -> Void)? = nil) -> some View { self }
    public func onDisappear(perform action: (() -> Void)? = nil) -> some View { self }
    public func task(@_inheritActorContext _ action: @escaping @isolated(any) @Sendable () async -> Void) -> some View {
        self
    }
    public func accessibilityLabel<S: StringProtocol>(_ label: S) -> some View { self }
    public func opacity(_ opacity: Double) -> some View { self }
    public func accessibilityHidden(_ hidden: Bool) -> some View { self }
    public func accessibilityElement(children: AccessibilityChildBehavior) -> some View { self }
    public func accessibilityAddTraits(_ traits: AccessibilityTraits) -> some View { self }
}

// MARK: The app

@MainActor @preconcurrency
public protocol Scene {
    associatedtype Body: Scene
    @SceneBuilder @MainActor @preconcurrency var body: Self.Body { get }
}
extension Never: Scene {}
@resultBuilder
public struct SceneBuilder {
    public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
}
public struct WindowGroup<Content: View>: Scene {
    public init(@ViewBuilder content: () -> Content) {}
    public var body: Never { fatalError("a stand-in") }
}
@MainActor @preconcurrency
public protocol App {
    associatedtype Body: Scene
    @SceneBuilder @MainActor @preconcurrency var body: Self.Body { get }
    @MainActor @preconcurrency init()
}
extension App { @MainActor @preconcurrency public static func main() {} }

// MARK: In UIKit

#if canImport(UIKit)
    import UIKit

    open class UIHostingController<Content: View>: UIViewController { public init(rootView: Content) { super.init() } }
#endif
