#if canImport(SwiftUI)
    import SwiftUI
    import TextChatUI
    #if canImport(UIKit) && !os(watchOS)
        import UIKit
    #endif

    /// What the component shows on the screen.
    @MainActor
    final class OTKScreen {
        let model: ChatModel
        #if canImport(UIKit) && !os(watchOS)
            let controller: UIHostingController<ChatView<ChatRow<ChatAvatar>>>
        #endif

        init(_ model: ChatModel) {
            self.model = model
            #if canImport(UIKit) && !os(watchOS)
                controller = UIHostingController(rootView: ChatView(model: model))
            #endif
        }
    }

    extension OTKTextChatComponent {
        @MainActor
        private var shown: OTKScreen {
            if let screen { return screen }
            let screen = OTKScreen(ChatModel(ofDelegate: chat))
            self.screen = screen
            return screen
        }

        #if canImport(UIKit) && !os(watchOS)
            /// The view to embed. From then on use the component on the main thread only.
            ///
            /// It has the look of ``TextChatUI/ChatView``, with the rows of OpenTok's text chat.
            @MainActor public var view: UIView { shown.controller.view }
        #else
            /// The view to embed. From then on use the component on the main thread only.
            ///
            /// It has the look of ``TextChatUI/ChatView``, with the rows of OpenTok's text chat.
            @MainActor public var view: ChatView<ChatRow<ChatAvatar>> { ChatView(model: shown.model) }
        #endif
    }
#endif
