// TextChatTests
