import Foundation

@MainActor
public class UIApplication {
    public class var didEnterBackgroundNotification: NSNotification.Name { NSNotification.Name("") }
    public class var willEnterForegroundNotification: NSNotification.Name { NSNotification.Name("") }
}
