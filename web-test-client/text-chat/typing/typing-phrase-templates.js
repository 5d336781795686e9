/** The sentences of each language. `{0}`, `{1}` and `{2}` stand for names, `{count}` for the number. */
export const TYPING_PHRASE_TEMPLATES = Object.freeze({
  en: {
    someone: 'Someone is typing…',
    one: '{0} is typing…',
    two: '{0} and {1} are typing…',
    three: '{0}, {1}, and {2} are typing…',
    oneAndOther: '{0} and 1 other are typing…',
    oneAndOthers: '{0} and {count} others are typing…',
    twoAndOther: '{0}, {1}, and 1 other are typing…',
    twoAndOthers: '{0}, {1}, and {count} others are typing…',
    people: '{count} people are typing…',
    several: 'Several people are typing…',
  },
  zh: {
    someone: '有人正在输入…',
    one: '{0}正在输入…',
    two: '{0}和{1}正在输入…',
    three: '{0}、{1}和{2}正在输入…',
    oneAndOther: '{0}和另外1人正在输入…',
    oneAndOthers: '{0}和另外{count}人正在输入…',
    twoAndOther: '{0}、{1}和另外1人正在输入…',
    twoAndOthers: '{0}、{1}和另外{count}人正在输入…',
    people: '{count}人正在输入…',
    several: '多人正在输入…',
  },
});
