/** Language → the chat, to open it, to close it, and what is unread. */
const WORDS = {
  ar: 'الدردشة|فتح الدردشة|إغلاق الدردشة|رسائل جديدة',
  de: 'Chat|Chat öffnen|Chat schließen|Neue Nachrichten',
  en: 'Chat|Open chat|Close chat|New messages',
  es: 'Chat|Abrir el chat|Cerrar el chat|Mensajes nuevos',
  fr: 'Discussion|Ouvrir la discussion|Fermer la discussion|Nouveaux messages',
  ja: 'チャット|チャットを開く|チャットを閉じる|新着メッセージ',
  pt: 'Chat|Abrir o chat|Fechar o chat|Novas mensagens',
  'zh-hans': '聊天|打开聊天|关闭聊天|新消息',
  'zh-hant': '聊天|開啟聊天|關閉聊天|新訊息',
};

export function wordsIn(tag) {
  const [language] = tag.toLowerCase().split(/[-_]/);
  const isTraditional = /[-_](hant|tw|hk|mo)\b/i.test(tag) && !/[-_]hans\b/i.test(tag);
  const table = language === 'zh' ? (isTraditional ? 'zh-hant' : 'zh-hans') : language;
  const [chat, open, close, unread] = (Object.hasOwn(WORDS, table) ? WORDS[table] : WORDS.en).split('|');
  return { chat, open, close, unread };
}
