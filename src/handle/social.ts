// Contacts that a page shows: e-mail addresses, phone numbers and profiles on social sites.
// Promise: one walk over the document, without recursion, so that no page can exhaust the stack or the clock.
import type { CheerioAPI } from 'cheerio';
import { CrawlError } from '../errors.js';
import { loadDocument } from './document.js';
import { readableText } from './readable-text.js';
import * as patterns from './social-patterns.js';

export {
  DISCORD_REGEX,
  DISCORD_REGEX_GLOBAL,
  EMAIL_REGEX,
  EMAIL_REGEX_GLOBAL,
  FACEBOOK_REGEX,
  FACEBOOK_REGEX_GLOBAL,
  INSTAGRAM_REGEX,
  INSTAGRAM_REGEX_GLOBAL,
  LINKEDIN_REGEX,
  LINKEDIN_REGEX_GLOBAL,
  PINTEREST_REGEX,
  PINTEREST_REGEX_GLOBAL,
  TIKTOK_REGEX,
  TIKTOK_REGEX_GLOBAL,
  TWITTER_REGEX,
  TWITTER_REGEX_GLOBAL,
  YOUTUBE_REGEX,
  YOUTUBE_REGEX_GLOBAL,
} from './social-patterns.js';

/** What `parseHandlesFromHtml` finds; each list sorted, without duplicates. */
export interface SocialHandles {
  /** Of `mailto:` links and the text. */
  emails: string[];
  /** From links such as `tel:+420775123456`. */
  phones: string[];
  /** What looks like a phone number in the text. */
  phonesUncertain: string[];
  /** URLs of LinkedIn profiles. */
  linkedIns: string[];
  /** URLs of Twitter and X profiles. */
  twitters: string[];
  /** URLs of Instagram profiles. */
  instagrams: string[];
  /** URLs of Facebook profiles and pages. */
  facebooks: string[];
  /** URLs of YouTube videos, channels and users. */
  youtubes: string[];
  /** URLs of TikTok profiles and videos. */
  tiktoks: string[];
  /** URLs of Pinterest pins and profiles. */
  pinterests: string[];
  /** URLs of Discord invitations and channels. */
  discords: string[];
}

/** The e-mail addresses of a text, in order, duplicates kept. */
export function emailsFromText(text: string): string[] {
  return typeof text === 'string' ? (text.match(patterns.EMAIL_REGEX_GLOBAL) ?? []) : [];
}

/** The addresses of `mailto:` URLs, in order, duplicates kept. */
export function emailsFromUrls(urls: readonly string[]): string[] {
  return afterPrefix(urls, /^mailto:/i).filter((email) => patterns.EMAIL_REGEX.test(email));
}

const MIN_PHONE_DIGITS = 7;
// 2018-11-10, 10.11.2018, 192.168.100.200
const NOT_A_PHONE = /^(?:\d{4}([-.])\d{2}\1\d{2}|\d{2}([-.])\d{2}\2\d{4}|\d{1,3}(?:\.\d{1,3}){3})$/;

/** What looks like a phone number in a text; formats differ too much for certainty. */
export function phonesFromText(text: string): string[] {
  if (typeof text !== 'string') return [];
  const found = text.match(patterns.PHONE_REGEX_GLOBAL) ?? [];
  return found.filter((phone) => digitsOf(phone) >= MIN_PHONE_DIGITS && !NOT_A_PHONE.test(phone));
}

/** The numbers of `tel:`, `phone:`, `telephone:` and `callto:` URLs. */
export function phonesFromUrls(urls: readonly string[]): string[] {
  return afterPrefix(urls, /^(?:tel|phone|telephone|callto):\/{0,2}/i).filter((phone) => {
    // Digits and the separators people write; 17 digits are the longest number with its prefix.
    return /^\+?[\d ().-]{6,40}$/.test(phone) && digitsOf(phone) >= 6 && digitsOf(phone) <= 17;
  });
}

function afterPrefix(urls: readonly string[], prefix: RegExp): string[] {
  if (!Array.isArray(urls)) throw new CrawlError('OPTION_INVALID', '"urls" must be an array of strings');
  return urls.flatMap((url: unknown) => {
    return typeof url === 'string' && prefix.test(url) ? [url.replace(prefix, '').trim()] : [];
  });
}

function digitsOf(text: string): number {
  return text.replace(/\D/g, '').length;
}

/**
 * Finds contacts in a page. `data`, when given, receives the parsed document as `$` and the page's `text`.
 *
 * @example
 * const { emails, twitters } = social.parseHandlesFromHtml(body);
 */
export function parseHandlesFromHtml(
  html: string,
  data: { $?: CheerioAPI; text?: string } | null = null,
): SocialHandles {
  if (typeof html !== 'string') return collect('', [], [], '');
  const $ = loadDocument(html);
  const { text, pieces, linkUrls } = readableText($.root()[0]);
  if (data) Object.assign(data, { $, text });
  return collect(html, pieces, linkUrls, text);
}

function collect(html: string, pieces: readonly string[], linkUrls: readonly string[], text: string): SocialHandles {
  const all = (regexp: RegExp): string[] => sorted(html.match(regexp) ?? []);
  return {
    // Each piece of text on its own, so that neighbours do not run together into an address.
    emails: sorted([...emailsFromUrls(linkUrls), ...pieces.flatMap(emailsFromText)]),
    phones: sorted(phonesFromUrls(linkUrls)),
    phonesUncertain: sorted(phonesFromText(text)),
    linkedIns: all(patterns.LINKEDIN_REGEX_GLOBAL),
    twitters: all(patterns.TWITTER_REGEX_GLOBAL),
    instagrams: all(patterns.INSTAGRAM_REGEX_GLOBAL),
    facebooks: all(patterns.FACEBOOK_REGEX_GLOBAL),
    youtubes: all(patterns.YOUTUBE_REGEX_GLOBAL),
    tiktoks: all(patterns.TIKTOK_REGEX_GLOBAL),
    pinterests: all(patterns.PINTEREST_REGEX_GLOBAL),
    discords: all(patterns.DISCORD_REGEX_GLOBAL),
  };
}

function sorted(found: readonly string[]): string[] {
  return [...new Set(found)].sort();
}
