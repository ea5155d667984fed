// The language of a text, for pages that do not say it: by script, then by the commonest words of each language.
// Promise: linear in at most so many characters; a text that is short, or of a language not listed, has none.

const MOST_CHARACTERS = 6_000;
/** Fewer known words than this decide nothing. */
const LEAST_WORDS = 4;
/** Of all words, those that the best language must know; the second best must know clearly fewer. */
const LEAST_SHARE = 0.12;
const AHEAD = 1.25;

/** Words that are common in their language and rare in the others. */
const WORDS: Readonly<Record<string, string>> = {
  en: 'the of and to in is that for it with as was on are be by this from at which have not were has their but you',
  de: 'der die und das den von zu mit sich des auf für ist im dem nicht ein eine als auch es an werden aus er hat dass sie nach wird bei',
  fr: 'le la les et des est en du une dans qui que pour pas sur plus par avec au ce sont ont mais nous vous cette aux été leur',
  es: 'el la los las de que y en un una por con para del se es al lo como más pero sus le ha este son está entre cuando muy',
  pt: 'o os as de que e em um uma não para com do da dos das no na por mais como mas foi ao ele seu sua são você pelo está',
  it: 'il la gli di che e un una per non con del della dei delle nel nella sono è al alla anche come più ma si lo questo dal',
  nl: 'de het een en van in is dat op te zijn met voor niet die aan er om ook als bij uit maar naar heeft worden door ze nog wordt',
  pl: 'i w na z się nie do to jest że o jak ale po co tak za od przez jego są był czy tylko oraz dla już może które',
  sv: 'och att det som en på är av för med till den har inte om ett men var jag från så vi när kan eller nu efter vid',
  da: 'og at det som en på er af for med til den har ikke om et men var jeg fra så vi når kan eller nu efter ved blev',
  no: 'og at det som en på er av for med til den har ikke om et men var jeg fra så vi når kan eller nå etter ved ble',
  fi: 'ja on ei että se oli hän mutta ovat myös kun joka niin kuin tai sen jos mukaan vain ole olla sekä tämä voi hänen',
  cs: 'a se v na je že s z do to o i ale za by jako po jsem které jsou byl nebo podle jeho však také pro aby při již',
  hu: 'a az és hogy nem is egy van volt meg de csak már mint ez el ha vagy még azt szerint ki után lesz nagyon pedig minden',
  ro: 'și de în la a că cu pe nu o un din este care mai pentru sa au fost prin după ca lui ale fi sunt dar această',
  tr: 've bir bu için da de ile olarak daha çok olan gibi sonra kadar ne ama en var olduğu değil her ya o ki göre',
  id: 'yang dan di dengan untuk pada tidak ini dari dalam akan itu juga oleh sebagai adalah ada dapat telah bisa atau mereka lebih',
  vi: 'và của là có trong được các những cho không với một này đã người khi từ để đến cũng như về nhiều theo',
};

const KNOWN = new Map<string, string[]>();
for (const [language, words] of Object.entries(WORDS)) {
  for (const word of words.split(' ')) KNOWN.set(word, [...(KNOWN.get(word) ?? []), language]);
}

/** Scripts that belong to one language, or that letters tell apart. */
const SCRIPTS: readonly (readonly [RegExp, (text: string) => string])[] = [
  [/[\p{Script=Hiragana}\p{Script=Katakana}]/gu, () => 'ja'],
  [/\p{Script=Hangul}/gu, () => 'ko'],
  [/\p{Script=Han}/gu, () => 'zh'],
  [/\p{Script=Cyrillic}/gu, cyrillic],
  [/\p{Script=Arabic}/gu, (text) => (/[پچژگک]/.test(text) ? (/[ٹڈڑے]/.test(text) ? 'ur' : 'fa') : 'ar')],
  [/\p{Script=Hebrew}/gu, () => 'he'],
  [/\p{Script=Greek}/gu, () => 'el'],
  [/\p{Script=Thai}/gu, () => 'th'],
  [/\p{Script=Devanagari}/gu, () => 'hi'],
  [/\p{Script=Bengali}/gu, () => 'bn'],
  [/\p{Script=Tamil}/gu, () => 'ta'],
  [/\p{Script=Georgian}/gu, () => 'ka'],
  [/\p{Script=Armenian}/gu, () => 'hy'],
];

function cyrillic(text: string): string {
  if (/[іїєґ]/i.test(text) && !/[ыэъ]/i.test(text)) return 'uk';
  if (/[ђјљњћџ]/i.test(text)) return 'sr';
  return /[ыэ]/i.test(text) ? 'ru' : /ъ/i.test(text) ? 'bg' : 'ru';
}

/**
 * The language of a text as a two-letter tag, or null.
 *
 * @example
 * detectLanguage('Der Wal ist nicht ein Fisch, und er lebt mit den anderen in der See.'); // 'de'
 */
export function detectLanguage(text: string): string | null {
  const read = text.slice(0, MOST_CHARACTERS);
  const letters = read.match(/\p{L}/gu)?.length ?? 0;
  if (letters < 20) return null;
  for (const [script, language] of SCRIPTS) {
    const own = read.match(script)?.length ?? 0;
    // Japanese is written with Chinese characters for the most part.
    if (own > letters * (language('') === 'ja' ? 0.1 : 0.4)) return language(read);
  }
  const words = read.toLowerCase().match(/\p{L}+/gu) ?? [];
  const counts = new Map<string, number>();
  for (const word of words) {
    const languages = KNOWN.get(word);
    // A word of three languages says less of each.
    for (const language of languages ?? []) counts.set(language, (counts.get(language) ?? 0) + 1 / languages!.length);
  }
  const [best, second] = [...counts].sort((a, b) => b[1] - a[1]);
  if (!best || best[1] < LEAST_WORDS || best[1] < words.length * LEAST_SHARE) return null;
  return second && best[1] < second[1] * AHEAD ? null : best[0];
}
