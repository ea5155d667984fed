// Advertisements and cookie notices (`blockAds`): where they are loaded from, and how their elements are named.
// Promise: short lists of what is common; a page without them is read as it is.

/** Hosts that serve advertisements and consent notices, and nothing that a page says. Their subdomains count, too. */
export const AD_HOSTS: readonly string[] = [
  'doubleclick.net',
  'googlesyndication.com',
  'googleadservices.com',
  'google-analytics.com',
  'googletagmanager.com',
  'googletagservices.com',
  'amazon-adsystem.com',
  'adnxs.com',
  'adsrvr.org',
  'advertising.com',
  'casalemedia.com',
  'chartbeat.com',
  'connect.facebook.net',
  'consensu.org',
  'cookiebot.com',
  'cookielaw.org',
  'criteo.com',
  'criteo.net',
  'hotjar.com',
  'moatads.com',
  'onetrust.com',
  'openx.net',
  'outbrain.com',
  'privacy-mgmt.com',
  'pubmatic.com',
  'quantserve.com',
  'rubiconproject.com',
  'scorecardresearch.com',
  'smartadserver.com',
  'taboola.com',
  'teads.tv',
  'trustarc.com',
  'usercentrics.eu',
  'yieldlab.net',
];

/** Elements that hold them, by the names that their makers give. */
export const AD_SELECTORS: readonly string[] = [
  'ins.adsbygoogle',
  '[id^="google_ads_"]',
  '[id^="div-gpt-ad"]',
  '[id^="taboola-"]',
  '.OUTBRAIN',
  '[data-ad-slot]',
  '[data-ad-unit]',
  '[aria-label="Advertisement"]',
  '#onetrust-consent-sdk',
  '#onetrust-banner-sdk',
  '#CybotCookiebotDialog',
  '#usercentrics-root',
  '#cookie-law-info-bar',
  '#cookie-banner',
  '#cookie-notice',
  '#cookie-consent',
  '.cookie-banner',
  '.cookie-notice',
  '.cookie-consent',
  '.cc-window',
  '[id^="sp_message_container_"]',
];

const hosts = new Set(AD_HOSTS);

/** Whether a host, or a domain above it, serves advertisements. */
export function isAdHost(host: string): boolean {
  for (let rest = host; rest !== ''; rest = rest.slice(rest.indexOf('.') + 1)) {
    if (hosts.has(rest)) return true;
    if (!rest.includes('.')) return false;
  }
  return false;
}
