// Contacts in pages: what is found, what is not, and that hostile pages cost no more than their length.
import { describe, expect, it } from 'vitest';
import * as social from './social.js';

describe('e-mail addresses', () => {
  it.each<[string, string[]]>([
    ['write to bob@example.com!', ['bob@example.com']],
    ['Info+Tag@Sub.Example.co.uk, a.b-c_d@x-y.example', ['Info+Tag@Sub.Example.co.uk', 'a.b-c_d@x-y.example']],
    ['contact=eva@example.com&x', ['eva@example.com']],
    ['https://example.com/u/bob@example.com', ['bob@example.com']],
    ['see..bob@example.com', ['bob@example.com']],
    ['bob@xn--bcher-kva.xn--p1ai', ['bob@xn--bcher-kva.xn--p1ai']],
    ['bob@example, bob@, @example.com, bob@-x.example, bob@192.168.0.1', []],
    [`${'a'.repeat(65)}@example.com`, []],
  ])('of %j are %j', (text, expected) => {
    expect(social.emailsFromText(text)).toEqual(expected);
  });

  it('come from mailto links only when valid', () => {
    expect(
      social.emailsFromUrls([
        'mailto:bob@example.com',
        'MAILTO: eva@example.com ',
        'mailto:x',
        'https://a@example.com',
      ]),
    ).toEqual(['bob@example.com', 'eva@example.com']);
    expect(social.EMAIL_REGEX.test('bob@example.com ')).toBe(false);
    expect(() => social.emailsFromUrls('mailto:a@example.com' as unknown as string[])).toThrow(/array/);
    expect(social.emailsFromText(undefined as unknown as string)).toEqual([]);
  });
});

describe('phone numbers', () => {
  it.each([
    '775123456',
    '+420775123456',
    '00420775123456',
    '1234567',
    '413-577-1234',
    '413-577-1234-564',
    '413.577.1234',
    '413 577 1234',
    '123 4567',
    '+44 7911 123456',
    '+1 413 555 2378',
    '(303) 494-2320',
    '1(413)555-2378',
    '1 (413) 555 2378',
    '(51) 5667-9987',
    '(19)94138-9398',
    '1(262) 955-95-79',
    '1(262)955.95.79',
    '+420 775 123 456',
  ])('%s is found within a text', (phone) => {
    expect(social.phonesFromText(`call ${phone}, now`)).toEqual([phone]);
  });

  it.each(['2018-11-10', '10.11.2018', '192.168.100.200', '123456', '12-34', '12345678901234567890', 'no digits'])(
    '%s is none',
    (text) => {
      expect(social.phonesFromText(`on ${text}, now`)).toEqual([]);
    },
  );

  it('come from links that name them', () => {
    const urls = [
      'tel:+420775123456',
      'tel://775 123 456',
      'TEL:/1-201-555-0123',
      'phone:775123456',
      'callto:(303) 494-2320',
      'tel:123',
      'tel:x',
      'https://775123456',
      '',
    ];
    expect(social.phonesFromUrls(urls)).toEqual([
      '+420775123456',
      '775 123 456',
      '1-201-555-0123',
      '775123456',
      '(303) 494-2320',
    ]);
  });
});

type Site = 'LINKEDIN' | 'INSTAGRAM' | 'TWITTER' | 'FACEBOOK' | 'YOUTUBE' | 'TIKTOK' | 'PINTEREST' | 'DISCORD';

describe('profiles', () => {
  it.each<[Site, string, string | undefined]>([
    ['LINKEDIN', 'https://www.linkedin.com/in/alan-turing', 'alan-turing'],
    ['LINKEDIN', 'en.linkedin.com/in/alan-turing/', 'alan-turing'],
    ['LINKEDIN', 'http://linkedin.com/company/linkedin', 'linkedin'],
    ['LINKEDIN', 'https://www.linkedin.com/in/alan-turing/latest', undefined],
    ['LINKEDIN', 'https://www.linkedin.com/feed/', undefined],
    ['LINKEDIN', 'https://evil-linkedin.com/in/alan', undefined],
    ['INSTAGRAM', 'https://www.instagram.com/old_prague', 'old_prague'],
    ['INSTAGRAM', 'instagr.am/old.prague/', 'old.prague'],
    ['INSTAGRAM', 'https://www.instagram.com/explore/', undefined],
    ['INSTAGRAM', 'https://www.instagram.com/p/', undefined],
    ['INSTAGRAM', 'https://www.instagram.com/explorer', 'explorer'],
    ['TWITTER', 'https://www.twitter.com/apify', 'apify'],
    ['TWITTER', 'x.com/apify/', 'apify'],
    ['TWITTER', 'https://x.com/@apify', 'apify'],
    ['TWITTER', 'https://mobile.twitter.com/apify', 'apify'],
    ['TWITTER', 'https://help.twitter.com/apify', undefined],
    ['TWITTER', 'https://netflix.com/apify', undefined],
    ['TWITTER', 'https://twitter.com/share', undefined],
    ['TWITTER', 'https://twitter.com/sharer', 'sharer'],
    ['TWITTER', 'https://twitter.com/sixteencharacter', undefined],
    ['FACEBOOK', 'https://www.facebook.com/someone.123', 'someone.123'],
    ['FACEBOOK', 'fb.com/someone-else/', 'someone-else'],
    ['FACEBOOK', 'https://www.facebook.com/profile.php?id=1155802082', 'profile.php?id=1155802082'],
    ['FACEBOOK', 'https://m.facebook.com/pages/Some-Page/123456', 'pages/Some-Page/123456'],
    ['FACEBOOK', 'https://www.facebook.com/sharer.php', undefined],
    ['FACEBOOK', 'https://www.facebook.com/groups', undefined],
    ['FACEBOOK', 'https://www.facebook.com/pages/create', undefined],
    ['YOUTUBE', 'https://www.youtube.com/watch?v=kM7YfhfkiEE', 'kM7YfhfkiEE'],
    ['YOUTUBE', 'https://www.youtube.com/watch?list=x&v=kM7YfhfkiEE', 'kM7YfhfkiEE'],
    ['YOUTUBE', 'https://youtu.be/kM7YfhfkiEE', 'kM7YfhfkiEE'],
    ['YOUTUBE', 'https://www.youtube.com/c/TrapNation', 'TrapNation'],
    ['YOUTUBE', 'https://www.youtube.com/@TrapNation', 'TrapNation'],
    ['YOUTUBE', 'https://www.youtube.com/user/pewdiepie', 'pewdiepie'],
    ['YOUTUBE', 'https://www.youtube.com/TrapNation', 'TrapNation'],
    ['YOUTUBE', 'https://www.youtube.com/feed', undefined],
    ['TIKTOK', 'https://www.tiktok.com/@jane.doe', '@jane.doe'],
    ['TIKTOK', 'https://www.tiktok.com/@jane/video/6800111723257941253', '@jane/video/6800111723257941253'],
    ['TIKTOK', 'https://m.tiktok.com/v/6749869095467945218', 'v/6749869095467945218'],
    ['TIKTOK', 'https://www.tiktok.com/about', undefined],
    ['PINTEREST', 'https://www.pinterest.com/jane', 'jane'],
    ['PINTEREST', 'https://cz.pinterest.com/jane/board', 'jane/board'],
    ['PINTEREST', 'https://pinterest.co.uk/pin/123456', 'pin/123456'],
    ['PINTEREST', 'https://pinterest.com/pin', undefined],
    ['DISCORD', 'https://discord.gg/jyEM2PRvMU', 'discord.gg/jyEM2PRvMU'],
    ['DISCORD', 'https://discord.com/invite/jyEM2PRvMU', 'discord.com/invite/jyEM2PRvMU'],
    [
      'DISCORD',
      'https://canary.discord.com/channels/231496023303957476/2332823543826404586',
      'canary.discord.com/channels/231496023303957476/2332823543826404586',
    ],
    ['DISCORD', 'https://discord.com/channels', undefined],
  ])('of %s: %s is %s', (site, url, name) => {
    expect(social[`${site}_REGEX`].exec(url)?.[1]).toBe(name);
  });
});

describe('parseHandlesFromHtml', () => {
  it('finds each contact once, sorted, and hands out the document and its text', () => {
    const data: { $?: unknown; text?: string } = {};
    const found = social.parseHandlesFromHtml(
      `<html><head><title>Not 775000000</title></head><body>
        <div>6HT<a href="mailto:eva@example.com">eva@example.com</a></div><p>bob@example.com</p>
        <a href="tel:+420775123456">call</a><table><tr><td>775 222 333</td><td>775 444 555</td></tr></table>
        <a href="https://twitter.com/apify/status/1">t</a><a href="https://x.com/orca">x</a>
        <a href="https://www.linkedin.com/in/linus/latest">l</a><a href="https://www.linkedin.com/in/linus">l</a>
        <script>var x = "775999888"</script>
      </body></html>`,
      data as never,
    );
    expect(found).toEqual({
      emails: ['bob@example.com', 'eva@example.com'],
      phones: ['+420775123456'],
      phonesUncertain: ['775 222 333', '775 444 555'],
      linkedIns: ['https://www.linkedin.com/in/linus', 'https://www.linkedin.com/in/linus/'],
      twitters: ['https://twitter.com/apify/', 'https://x.com/orca'],
      instagrams: [],
      facebooks: [],
      youtubes: [],
      tiktoks: [],
      pinterests: [],
      discords: [],
    });
    expect(typeof data.$).toBe('function');
    expect(data.text).toContain('775 222 333\t775 444 555');
    expect(data.text).not.toContain('775999888');
  });

  it('answers anything but text with empty lists', () => {
    expect(Object.values(social.parseHandlesFromHtml(undefined as unknown as string)).flat()).toEqual([]);
  });

  it('reads a page up to where it is nested out of all measure', () => {
    const found = social.parseHandlesFromHtml(`<p>bob@example.com</p>${'<div>'.repeat(300_000)}`);
    expect(found.emails).toEqual(['bob@example.com']);
  });
});

describe('hostile text', () => {
  const global = Object.entries(social).filter(([name]) => name.endsWith('_GLOBAL')) as [string, RegExp][];
  const finders: [string, (text: string) => unknown][] = [
    ...global.map(([name, regexp]): [string, (text: string) => unknown] => [name, (text) => text.match(regexp)]),
    ['phonesFromText', social.phonesFromText],
  ];
  const pieces = [
    'a',
    'a.',
    'a@',
    'a@a.',
    '@',
    '-',
    '1',
    '12 ',
    '12-',
    '(12) ',
    '+1',
    '0',
    'www.',
    'https://',
    'linkedin.com/in/',
    'youtube.com/watch?',
    'youtube.com/watch?a&',
    'tiktok.com/@a.',
    'discord.com/channels/11/',
    'facebook.com/pages/',
    'x.com/',
    'pinterest.',
    'a-a.',
    '%',
    '&',
    'instagram.com/_',
  ];

  it.each(finders)('takes %s no more than its length', (_, find) => {
    for (const piece of pieces) {
      const text = piece.repeat(Math.ceil(200_000 / piece.length));
      // Ten times the text: ten times the work if linear, a hundred times if quadratic.
      const small = secondsFor(() => find(text.slice(0, 20_000)));
      expect(secondsFor(() => find(text))).toBeLessThan(50 * small + 0.3);
    }
  });
});

/** CPU seconds of a call: not disturbed by what else runs. */
function secondsFor(call: () => unknown): number {
  const before = process.cpuUsage();
  call();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}
