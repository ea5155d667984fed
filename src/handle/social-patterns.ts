// Regular expressions for e-mail addresses, phone numbers and profile URLs, exact and global.
// Promise: linear time on hostile text; every repetition is bounded or cannot be matched in two ways.

/** One pattern in two forms: of a whole text, and of all occurrences in a text. */
interface Pattern {
  readonly exact: RegExp;
  readonly global: RegExp;
}

function pattern(source: string): Pattern {
  return { exact: new RegExp(`^(?:${source})$`, 'i'), global: new RegExp(source, 'gi') };
}

// The characters of RFC 5322 atoms but '/', '=' and '?', which in pages belong to the URL around the address.
const ATOM = "a-z0-9!#$%&'*+^_`{|}~-";
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';

// The lookahead bounds the local part (64, RFC 5321) before it is matched piece by piece.
const email = pattern(
  `(?<![${ATOM}])(?=[.${ATOM}]{1,64}@)[${ATOM}]+(?:\\.[${ATOM}]+)*@(?:${LABEL}\\.){1,20}[a-z](?:[a-z0-9-]{0,61}[a-z0-9])`,
);

/** Exactly one e-mail address. */
export const EMAIL_REGEX = email.exact;
/** All e-mail addresses of a text. */
export const EMAIL_REGEX_GLOBAL = email.global;

const phone = pattern(
  [
    // 1 (413) 555-2378, (51) 5667-9987, +1(262)955.95.79
    '(?<!\\d)(?:\\+|00)?(?:\\d{1,4} ?)?\\(\\d{2,4}\\) ?\\d{2,5}(?:[ .-]\\d{2,6}){0,3}(?!\\d)',
    // +1 413 555 2378, 413-577-1234-564, 413.577.1234, 123 4567
    '(?<!\\d)(?:(?:\\+|00)\\d{1,3}[ .-]?)?\\d{2,4}([ .-])\\d{2,8}(?:\\1\\d{2,8}){0,3}(?!\\d)',
    // 775123456, +420775123456
    '(?<!\\d)\\+?\\d{6,17}(?!\\d)',
  ].join('|'),
);
export const PHONE_REGEX_GLOBAL = phone.global;

// Where a URL of a site may begin: not within another word or host name.
const START = '(?<![\\w.-])(?:https?:\\/\\/)?';

const linkedIn = pattern(
  `${START}(?:(?:www|[a-z]{2,3})\\.)?linkedin\\.com\\/(?:in|company)\\/([a-z0-9_%=-]{2,60})(?![a-z0-9_%=-])\\/?`,
);
/** Exactly one LinkedIn profile, such as `https://www.linkedin.com/in/alan-turing`; group 1 is its name. */
export const LINKEDIN_REGEX = linkedIn.exact;
/** All LinkedIn profiles of a text; what follows the profile in a URL is left out. */
export const LINKEDIN_REGEX_GLOBAL = linkedIn.global;

const INSTAGRAM_PAGES = 'explore|_n|_u|p|reels?|stories|accounts|about|legal|developer|directory';
const instagram = pattern(
  `${START}(?:www\\.)?(?:instagram\\.com|instagr\\.am)\\/(?!(?:${INSTAGRAM_PAGES})(?![a-z0-9_.]))([a-z0-9_.]{2,30})(?![a-z0-9_.])\\/?`,
);
/** Exactly one Instagram profile; group 1 is its name. */
export const INSTAGRAM_REGEX = instagram.exact;
/** All Instagram profiles of a text. */
export const INSTAGRAM_REGEX_GLOBAL = instagram.global;

const TWITTER_PAGES =
  'oauth|account|tos|privacy|signup|home|hashtag|search|login|widgets|i|settings|start|share|intent|oct|messages|explore|notifications|jobs|compose';
const twitter = pattern(
  `${START}(?:(?:www|mobile|m)\\.)?(?:twitter|x)\\.com\\/(?!(?:${TWITTER_PAGES})(?![a-z0-9_]))@?([a-z0-9_]{1,15})(?![a-z0-9_])\\/?`,
);
/** Exactly one profile of Twitter or X; group 1 is its name. */
export const TWITTER_REGEX = twitter.exact;
/** All profiles of Twitter or X in a text. */
export const TWITTER_REGEX_GLOBAL = twitter.global;

const FACEBOOK_PAGES =
  'rsrc|apps|groups|events|l|friends|images|photos?|chat|ajax|dyi|common|policies|login|recover|reg|help|security|messages|marketplace|live|bookmarks|games|fundraisers|saved|gaming|salesgroups|jobs|people|ads|ad_campaign|weather|offers|recommendations|crisisresponse|onthisday|developers|settings|connect|business|plugins|intern|sharer?|dialog|watch|hashtag|story|permalink|privacy|legal|terms|pages\\/(?:create|merge|search|category)';
const facebook = pattern(
  `${START}(?:(?:www|m|mbasic|[a-z]{2}-[a-z]{2})\\.)?(?:facebook|fb)\\.com\\/(?!(?:${FACEBOOK_PAGES})(?:\\.php)?(?![a-z0-9.-]))` +
    '(profile\\.php\\?id=\\d{3,20}(?!\\d)|pages\\/[\\w-][\\w./-]{0,150}|(?!(?:pages|profile\\.php)(?![a-z0-9.-]))[a-z0-9][a-z0-9.-]{4,50}(?![a-z0-9.-]))\\/?',
);
/** Exactly one Facebook profile or page; group 1 is its name. */
export const FACEBOOK_REGEX = facebook.exact;
/** All Facebook profiles and pages of a text. */
export const FACEBOOK_REGEX_GLOBAL = facebook.global;

const YOUTUBE_PAGES =
  'watch|v|embed|shorts|user|c|channel|feed|playlist|results|about|t|redirect|account|premium|gaming|live|iframe_api|s|img|static|oembed|signin|howyoutubeworks|creators|ads|hashtag';
const youtube = pattern(
  `${START}(?:youtu\\.be\\/|(?:(?:www|m|music)\\.)?youtube\\.com\\/(?:watch(?:\\.php)?\\?(?:[^\\s"'<>]{0,200}?[&;])?v=|(?:v|embed|shorts|user|c|channel)\\/|(?:c\\/)?@|(?!(?:${YOUTUBE_PAGES})(?![\\w-]))))([\\w-]{2,100})(?![\\w-])`,
);
/** Exactly one YouTube channel, user or video; group 1 is its name or id. */
export const YOUTUBE_REGEX = youtube.exact;
/** All YouTube channels, users and videos of a text. */
export const YOUTUBE_REGEX_GLOBAL = youtube.global;

const tiktok = pattern(
  `${START}(?:(?:www|m)\\.)?tiktok\\.com\\/((?:v|embed|trending)(?:\\?shareId=|\\/)\\d{2,50}(?!\\d)|@[\\w.-]{1,64}(?:\\/video\\/\\d{2,50}(?!\\d))?)\\/?`,
);
/** Exactly one TikTok profile or video; group 1 is its path. */
export const TIKTOK_REGEX = tiktok.exact;
/** All TikTok profiles and videos of a text. */
export const TIKTOK_REGEX_GLOBAL = tiktok.global;

const pinterest = pattern(
  `${START}(?:(?:www\\.)?pinterest\\.(?:com(?:\\.[a-z]{2})?|co\\.[a-z]{2}|[a-z]{2})|[a-z]{2}\\.pinterest\\.com)\\/` +
    '(pin\\/\\d{2,50}(?!\\d)|(?!pin(?![\\w.-]))[\\w.-]{1,64}(?![\\w.-])(?:\\/[\\w.-]{1,100})?)\\/?',
);
/** Exactly one Pinterest profile, board or pin; group 1 is its path. */
export const PINTEREST_REGEX = pinterest.exact;
/** All Pinterest profiles, boards and pins of a text. */
export const PINTEREST_REGEX_GLOBAL = pinterest.global;

const discord = pattern(
  `${START}(?:www\\.)?((?:(?:canary|ptb)\\.)?discord(?:app)?\\.com\\/channels\\/\\d{2,50}(?!\\d)(?:\\/\\d{2,50}(?!\\d)){0,3}|` +
    '(?:(?:canary|ptb)\\.)?(?:discord\\.(?:com|me|li|gg|io)|discordapp\\.com)(?:\\/invite)?\\/(?!(?:channels|invite)(?![\\w-]))[\\w-]{2,50}(?![\\w-]))\\/?',
);
/** Exactly one Discord invite or channel; group 1 is the URL without scheme. */
export const DISCORD_REGEX = discord.exact;
/** All Discord invites and channels of a text. */
export const DISCORD_REGEX_GLOBAL = discord.global;
