// TextChat
