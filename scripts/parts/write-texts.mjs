// Writes the texts of the Swift view, Sources/clients/TextChatUI/Resources/texts.json, from those of the chat element:
// one line for each language, with the keys of ChatWord.swift. Run it after a change of either:
//
//     node scripts/parts/write-texts.mjs
//
// A test of the element (test/words/strings.test.js) compares the file with what this writes.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CHANGE_STRINGS } from '../../web-test-client/chat/changes/change-strings.js';
import { REACTION_STRINGS } from '../../web-test-client/chat/reactions/reaction-strings.js';
import { CHAT_STRINGS } from '../../web-test-client/chat/strings/index.js';
import { MODERATOR_STRINGS } from '../../web-test-client/chat/strings/moderators.js';

const TARGET = new URL('../../Sources/clients/TextChatUI/', import.meta.url);
export const FILE = new URL('Resources/texts.json', TARGET);

/** Texts that only a device needs: a page has no outbox on a disk. */
const OF_DEVICE = {
  notSaved: {
    ar: 'لم تُرسل: تعذّر حفظ الرسالة على هذا الجهاز.',
    de: 'Nicht gesendet: Dieses Gerät konnte die Nachricht nicht speichern.',
    en: 'Not sent: this device could not save the message.',
    es: 'No enviado: este dispositivo no pudo guardar el mensaje.',
    fr: 'Non envoyé : cet appareil n’a pas pu enregistrer le message.',
    ja: '未送信：この端末にメッセージを保存できませんでした。',
    pt: 'Não enviada: este dispositivo não conseguiu guardar a mensagem.',
    'zh-hans': '未发送：此设备无法保存该消息。',
    'zh-hant': '未傳送：此裝置無法儲存該訊息。',
  },
  damaged: {
    ar: 'تعذّرت على هذا الجهاز قراءة رسائل لم تُرسل بعد.',
    de: 'Noch nicht gesendete Nachrichten konnten auf diesem Gerät nicht gelesen werden.',
    en: 'Messages that had not been sent could not be read from this device.',
    es: 'No se pudieron leer en este dispositivo mensajes que aún no se habían enviado.',
    fr: 'Des messages pas encore envoyés n’ont pas pu être lus sur cet appareil.',
    ja: 'この端末で未送信のメッセージを読み込めませんでした。',
    pt: 'Não foi possível ler neste dispositivo mensagens ainda não enviadas.',
    'zh-hans': '无法在此设备上读取尚未发送的消息。',
    'zh-hant': '無法在此裝置上讀取尚未傳送的訊息。',
  },
};

/** The name of a table → the words that `Intl` writes, which Foundation does not have on each system. */
function ofIntl(language) {
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
  const duration = (count, unit) =>
    new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }).format(count);
  const capital = (text) => text.charAt(0).toLocaleUpperCase(language) + text.slice(1);
  return {
    today: capital(relative.format(0, 'day')),
    yesterday: capital(relative.format(-1, 'day')),
    tenMinutes: duration(10, 'minute'),
    oneHour: duration(1, 'hour'),
  };
}

/** The content of the file. */
export function textsOfSwift() {
  const source = readFileSync(new URL('Words/ChatWord.swift', TARGET), 'utf8');
  const keys = [...source.matchAll(/^ {4}case (.+)$/gm)].flatMap(([, names]) => names.split(', '));
  const lines = Object.entries(CHAT_STRINGS).map(([language, strings]) => {
    const device = Object.fromEntries(Object.entries(OF_DEVICE).map(([key, texts]) => [key, texts[language]]));
    const ofParts = { ...MODERATOR_STRINGS[language], ...CHANGE_STRINGS[language], ...REACTION_STRINGS[language] };
    const all = { ...strings, ...ofParts, ...device, ...ofIntl(language) };
    return `"${language}": ${JSON.stringify(Object.fromEntries(keys.map((key) => [key, all[key]])))}`;
  });
  return `{\n${lines.join(',\n')}\n}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(FILE, textsOfSwift());
