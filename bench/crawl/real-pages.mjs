// The pages of ../shared/data/pages made into a site: what linked within its site links to another page of ours,
// what led elsewhere still does, and two more links per page form a tree, so that every page is reached from /p/0.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';

const HREF = /(<a\b[^>]*?\shref\s*=\s*)("[^"]*"|'[^']*'|[^\s>"']+)/gi;
const SCHEME = /^[a-z][a-z\d+.-]*:/i;

function hash(text) {
  let value = 2166136261;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 16777619);
  return value >>> 0;
}

const unquoted = (value) => (value[0] === '"' || value[0] === "'" ? value.slice(1, -1) : value).trim();
const hostOf = (href) => /^(?:https?:)?\/\/([^/?#]+)/i.exec(href)?.[1]?.toLowerCase();

/** The host that most links of the page name: its own, in all likelihood. */
function ownHost(html) {
  const counts = new Map();
  for (const [, , value] of html.matchAll(HREF)) {
    const host = hostOf(unquoted(value));
    if (host) counts.set(host, (counts.get(host) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0];
}

/**
 * Where a link leads in a web of many hosts: to a page of the same host, or to the host that stands for the one it
 * names. `variants` URLs share a page, so that a site has more URLs than pages and a visit finds new ones.
 */
function inWebOf({ origins, variants }, count) {
  return (href, isInternal) => {
    const number = hash(href);
    const path = `/p/${number % count}/${Math.floor(number / count) % variants}`;
    return isInternal ? path : `${origins[hash(hostOf(href) ?? href) % origins.length]}${path}`;
  };
}

function inSite(count) {
  return (href, isInternal) => (isInternal ? `/p/${hash(href) % count}` : undefined);
}

function asPageOfSite(html, index, count, leadsTo) {
  const own = ownHost(html);
  const linked = html.replace(HREF, (whole, before, value) => {
    const href = unquoted(value);
    if (href === '' || href[0] === '#') return whole;
    const isInternal = SCHEME.test(href) || href.startsWith('//') ? hostOf(href) === own : true;
    const isWeb = isInternal || /^(?:https?:)?\/\//i.test(href);
    const target = isWeb ? leadsTo(href, isInternal) : undefined;
    return target === undefined ? whole : `${before}"${target}"`;
  });
  const tree = [2 * index + 1, 2 * index + 2]
    .filter((child) => child < count)
    .map((child) => `<a href="/p/${child}">page ${child}</a>`)
    .join(' ');
  // A base of the page's own would lead the site's links away.
  const rooted = linked.replace(/<base\b/gi, '<xbase');
  const at = /<body\b[^>]*>/i.exec(rooted);
  const cut = at ? at.index + at[0].length : 0;
  return `${rooted.slice(0, cut)}${tree}${rooted.slice(cut)}`;
}

/** The bodies of /p/0, /p/1, …, gzipped. With `web`, what led elsewhere leads to other hosts of it. */
export function readSite(folder, limit = Infinity, web = undefined) {
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.html.gz'))
    .sort()
    .slice(0, limit);
  const leadsTo = web ? inWebOf(web, files.length) : inSite(files.length);
  return files.map((file, index) => {
    const html = gunzipSync(readFileSync(join(folder, file))).toString('latin1');
    return gzipSync(Buffer.from(asPageOfSite(html, index, files.length, leadsTo), 'latin1'));
  });
}
