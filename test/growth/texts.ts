// What strangers write to be slow to read: every character that means something to a reader, repeated, in runs and
// in pairs, and lists that never repeat. Every text takes a length and has about that many characters.

/** About `length` characters of one kind. */
export type MakeText = (length: number) => string;

/** A kind of hostile input, by a name that says what it is. */
export interface HostileText {
  readonly name: string;
  readonly make: MakeText;
}

export function repeated(unit: string, length: number): string {
  return unit.repeat(Math.max(1, Math.ceil(length / unit.length)));
}

/** `make(0)`, `make(1)` … until there are `length` characters. */
export function listed(make: (index: number) => string, length: number): string {
  let text = '';
  for (let index = 0; text.length < length; index++) text += make(index);
  return text;
}

/** Every ASCII mark, the spaces, what Unicode adds, a letter and a digit. */
const CHARACTERS = [
  ...'!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~',
  ...' \t\n\r\v\f\0\u00a0\u2028\u200b\u200d\u0301\ufeff\ufffd',
  ...'aZ0é中😀',
  '\ud800',
];

/** What readers look for: the starts of things that never come, and things that mean little together. */
const PIECES = [
  '" ',
  "' ",
  '\\|',
  '\\\\`',
  '[](',
  '](x)',
  '![',
  '[a][b]',
  '<a',
  '</',
  '<!--',
  '-->',
  '<![CDATA[',
  '<?',
  '&#',
  '&#x',
  '&amp',
  '&lt;',
  '&CounterClockwiseContourIntegra',
  '%C3%A9',
  '%2',
  '%252F',
  '../',
  './',
  '//',
  'a/',
  'a,',
  'a=',
  '=,',
  'a=b&',
  'a=1;',
  '; ',
  ';a="b"',
  ', ',
  ' ,',
  'a ',
  ' a\n',
  '\n ',
  ' \n',
  '\r\n',
  '\n\n',
  '\t\v',
  '- ',
  '* ',
  '# ',
  '1. ',
  '> ',
  '```',
  '~~~\n',
  '|-',
  '| a ',
  '**a',
  '__a__',
  '$$',
  '\\(',
  'http://',
  'https://a.b/',
  'www.a.',
  'a.a',
  'a@',
  'a@b.',
  '+1 ',
  '(1) ',
  '12-',
  '1,',
  '1.',
  '{"a":',
  '[[',
  ']]',
  '{{',
  '{a,b}',
  '[a-z]',
  '?*',
  '*/',
  '**/',
  '@(a|',
  'Allow: /\n',
  'User-agent: a\n',
  'Disallow: /*a\n',
  'max-age=1,',
  'nofollow,',
  'bot: ',
  'W/"a",',
  'utf-8;',
  'charset=',
  'jan ',
  '2020-01-',
  '/2020/01',
  'by ',
  ' - ',
  ' | ',
  'Related ',
  'Share this',
  'javascript:',
  'data:,',
  'e\u0301',
  '\u200d😀',
];

/** Lists whose parts never repeat: what is kept by name is kept for all of them. */
const LISTS: Readonly<Record<string, (index: number) => string>> = {
  'distinct words': (index) => `w${index.toString(36)} `,
  'distinct lines': (index) => `line ${index}\n`,
  'distinct parameters': (index) => `p${index}=${index}&`,
  'parameters that come in falling order': (index) => `p${9_999_999 - index}=&`,
  'distinct tracking parameters': (index) => `utm_${index}=1&`,
  'distinct foreign parameters': (index) => `utm_${index}=%C3%A9&`,
  'distinct segments': (index) => `s${index}/`,
  'distinct cookies': (index) => `c${index}=${index}; `,
  'distinct list items': (index) => `v${index}, `,
  'distinct rules': (index) => `Disallow: /r${index}*x\n`,
  'distinct agents': (index) => `User-agent: a${index}\nDisallow: /\n`,
  'distinct labels of a name': (index) => `l${index}.`,
  'distinct addresses': (index) => `m${index}@example.com `,
  'distinct URLs': (index) => `https://h${index}.example/p${index} `,
  'distinct keys': (index) => `"k${index}":{"v":`,
  'growing runs of spaces': (index) => `${' '.repeat(index)}x`,
  'growing runs of backslashes': (index) => `${'\\'.repeat(index)}|`,
  'growing runs of backticks': (index) => `${'`'.repeat(index)}x`,
  'growing runs of brackets': (index) => `${'['.repeat(index)}x`,
  'growing runs of line breaks': (index) => `${'\n'.repeat(index)}x`,
};

const shown = (unit: string): string => JSON.stringify(unit).slice(0, 40);

export const TEXTS: readonly HostileText[] = [
  ...[...CHARACTERS, ...PIECES].map((unit) => ({
    name: `repeats of ${shown(unit)}`,
    make: (length: number) => repeated(unit, length),
  })),
  ...CHARACTERS.map((unit) => ({
    name: `repeats of ${shown(unit)} and an end`,
    make: (length: number) => `x${repeated(unit, length)}x`,
  })),
  ...Object.entries(LISTS).map(([name, make]) => ({ name, make: (length: number) => listed(make, length) })),
];
