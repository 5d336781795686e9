/** The texts of the part with files, cards and markup, by language. */
export const MORE_STRINGS = {
  ar: {
    sendingFile: 'جارٍ إرسال {name}…', fileFailed: 'تعذّر إرسال {name}.', showPicture: 'عرض الصورة {name}',
    removePreview: 'إزالة المعاينة', tooManyFiles: 'أرسل ملفات أقل في المرة الواحدة.', noPicture: 'تعذّر تحميل الصورة.',
  },
  de: {
    sendingFile: '{name} wird gesendet…', fileFailed: '{name} konnte nicht gesendet werden.', showPicture: 'Bild {name} anzeigen',
    removePreview: 'Vorschau entfernen', tooManyFiles: 'Sende weniger Dateien auf einmal.', noPicture: 'Das Bild konnte nicht geladen werden.',
  },
  en: {
    sendingFile: 'Sending {name}…', fileFailed: '{name} could not be sent.', showPicture: 'Show picture {name}',
    removePreview: 'Remove the preview', tooManyFiles: 'Send fewer files at once.', noPicture: 'The picture could not be loaded.',
  },
  es: {
    sendingFile: 'Enviando {name}…', fileFailed: 'No se pudo enviar {name}.', showPicture: 'Mostrar la imagen {name}',
    removePreview: 'Quitar la vista previa', tooManyFiles: 'Envía menos archivos a la vez.', noPicture: 'No se pudo cargar la imagen.',
  },
  fr: {
    sendingFile: 'Envoi de {name}…', fileFailed: '{name} n’a pas pu être envoyé.', showPicture: 'Afficher l’image {name}',
    removePreview: 'Retirer l’aperçu', tooManyFiles: 'Envoyez moins de fichiers à la fois.', noPicture: 'L’image n’a pas pu être chargée.',
  },
  ja: {
    sendingFile: '{name}を送信中…', fileFailed: '{name}を送信できませんでした。', showPicture: '画像「{name}」を表示',
    removePreview: 'プレビューを削除', tooManyFiles: '一度に送信するファイルを減らしてください。', noPicture: '画像を読み込めませんでした。',
  },
  pt: {
    sendingFile: 'A enviar {name}…', fileFailed: 'Não foi possível enviar {name}.', showPicture: 'Mostrar a imagem {name}',
    removePreview: 'Remover a pré-visualização', tooManyFiles: 'Envie menos ficheiros de cada vez.', noPicture: 'Não foi possível carregar a imagem.',
  },
  'zh-hans': {
    sendingFile: '正在发送{name}…', fileFailed: '无法发送{name}。', showPicture: '显示图片{name}',
    removePreview: '移除预览', tooManyFiles: '请减少一次发送的文件数量。', noPicture: '无法加载图片。',
  },
  'zh-hant': {
    sendingFile: '正在傳送{name}…', fileFailed: '無法傳送{name}。', showPicture: '顯示圖片{name}',
    removePreview: '移除預覽', tooManyFiles: '請減少一次傳送的檔案數量。', noPicture: '無法載入圖片。',
  },
};
