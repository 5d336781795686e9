// TextChatFoundation
