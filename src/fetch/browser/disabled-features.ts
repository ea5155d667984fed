// Which of Chromium's features are off, beside those that Playwright turns off. Chromium obeys the last of several
// --disable-features, so ours has Playwright's in it. Promise: without knowing those, nothing is turned off.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** Two hidden pages for the address bar of each context, in a process each time: 0.45 CPU-seconds and 20 MB. */
const OURS = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup'];

let playwrights: readonly string[] | undefined;

/** The argument, or none. */
export function disabledFeatures(): string[] {
  playwrights ??= namesIn(bundleOfPlaywright());
  return playwrights.length === 0 ? [] : [`--disable-features=${[...playwrights, ...OURS].join(',')}`];
}

/** The features that Playwright's code turns off; none when it cannot be told. */
export function namesIn(code: string): string[] {
  const list = /\bdisabledFeatures = \[([^[\]]*)\]\.filter\(Boolean\)/.exec(code)?.[1];
  const lines = (list ?? '').split('\n').filter((line) => !/^\s*(?:\/\/|$)/.test(line));
  const names = lines.map((line) => /^\s*"(\w+)",?\s*$/.exec(line)?.[1]);
  return names.includes(undefined) ? [] : (names as string[]);
}

function bundleOfPlaywright(): string {
  try {
    return readFileSync(createRequire(import.meta.url).resolve('playwright-core/lib/coreBundle'), 'utf8');
  } catch {
    return ''; // Versions before it had a bundle.
  }
}
