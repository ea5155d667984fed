// Words that mark furniture on any site: share, subscribe, related, cookies, add to cart.
// Promise: they are one hint among many; a text is never kept or dropped for a word alone.
import { createWordTable } from './word-table.js';

const PHRASES: Readonly<Record<string, string>> = {
  related: 'related similar recommended recommendations popular trending latest recent featured editors suggested',
  share: 'share tweet pin facebook twitter whatsapp linkedin instagram youtube follow pinterest tiktok reddit telegram',
  subscribe: 'subscribe newsletter newsletters inbox subscribers unsubscribe email',
  account: 'login sign signin log register account password username logout',
  cart: 'cart checkout wishlist bag basket shipping returns delivery pickup stock',
  consent: 'cookie cookies consent privacy gdpr preferences',
  legal: 'copyright rights reserved terms policy disclaimer trademark trademarks',
  navigation: 'home menu search contact skip navigation back top next previous prev page close toggle open',
  comment: 'comment comments reply replies leave respond discuss discussion',
  author: 'author written posted published updated editor reviewed',
  date: 'january february march april june july august september october november december jan feb mar apr jun jul aug sept sep oct nov dec ago yesterday',
  review: 'review reviews rating ratings stars rated helpful verified',
  question: 'faq faqs asked questions',
  contents: 'contents jump chapter',
  advert: 'advertisement sponsored ad ads affiliate',
  more: 'more view show see load all less expand',
  filter: 'filter filters sort results showing items clear refine',
  price: 'price sale save off discount deal deals regular',
  tags: 'tags tagged category categories filed topics',
  act: 'click download here learn get started buy shop try request book call demo free quote',
  forum: 'post posts joined member members thread topic likes views report registered messages joined op',
  product:
    'specifications features details description overview ingredients dimensions materials weight size color colour sku model',
  help: 'help support feedback edit print copy copied link improve issue github',
  place: 'language english country region currency usd deutsch español français',
};

export const PHRASE_NAMES: readonly string[] = Object.keys(PHRASES);
export const PHRASE_COUNT = PHRASE_NAMES.length;
export const phraseTable = createWordTable(Object.values(PHRASES));
