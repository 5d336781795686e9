import Foundation

open class NSWorkspace {
    public class var shared: NSWorkspace { NSWorkspace() }
    public var notificationCenter: NotificationCenter { NotificationCenter.default }
    public class var willSleepNotification: NSNotification.Name { NSNotification.Name("") }
    public class var didWakeNotification: NSNotification.Name { NSNotification.Name("") }
}
