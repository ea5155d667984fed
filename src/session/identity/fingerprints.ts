// Fingerprints of browsers, made by the optional packages fingerprint-generator and fingerprint-injector.
// Promise: a session shows one browser for as long as it is remembered. How pages connect does not change.
import { CrawlError } from '../../errors.js';
import type { ContextIdentity } from '../../fetch/browser/pool-options.js';
import type { BrowserContext } from '../../fetch/browser/playwright-types.js';
import { createRecentMap } from '../../base/recent-map.js';
import { loadPeer } from './peer.js';

/** Which browsers pages pretend to be in. */
export interface FingerprintOptions {
  /** Options of the package fingerprint-generator: `browsers`, `operatingSystems`, `devices`, `locales`, … */
  fingerprintGeneratorOptions?: object | undefined;
  /** Whether a session keeps its fingerprint. Default true. */
  useFingerprintCache?: boolean | undefined;
  /** Sessions whose fingerprints are remembered. Default 10,000. */
  fingerprintCacheSize?: number | undefined;
}

/** A fingerprint with its headers, as the generator makes them; only what is read here. */
export interface Fingerprint {
  readonly fingerprint: {
    readonly navigator: { readonly userAgent: string };
    readonly screen: { readonly width: number; readonly height: number };
  };
  readonly headers: Readonly<Record<string, string>>;
}
interface GeneratorPackage {
  readonly FingerprintGenerator: new (options?: object) => { getFingerprint(options?: object): Fingerprint };
}
interface InjectorPackage {
  readonly FingerprintInjector: new () => {
    attachFingerprintToPlaywright(context: BrowserContext, fingerprint: Fingerprint): Promise<void>;
    attachFingerprintToPuppeteer(page: object, fingerprint: Fingerprint): Promise<void>;
  };
}

/** What makes and injects fingerprints. */
export interface Fingerprints {
  /** A new one, with options of its own. */
  make(options?: object): Fingerprint;
  /** The fingerprint of a session; without one, a new one. */
  of(sessionId: string | undefined): Fingerprint;
  /** Makes the documents of a context show it. */
  attach(context: BrowserContext, fingerprint: Fingerprint): Promise<void>;
  /** The same for one page of Puppeteer. */
  attachToPage(page: object, fingerprint: Fingerprint): Promise<void>;
  /** What the context of a session needs to show its fingerprint. */
  contextFor(sessionId: string | undefined): ContextIdentity;
}

const MAX_SESSIONS = 10_000;
const SYSTEMS: Readonly<Record<string, string>> = { darwin: 'macos', win32: 'windows' };

/** @example const { contextFor } = await openFingerprints({ fingerprintGeneratorOptions: { devices: ['desktop'] } }); */
export async function openFingerprints(options: FingerprintOptions = {}): Promise<Fingerprints> {
  const { fingerprintGeneratorOptions, useFingerprintCache = true, fingerprintCacheSize = MAX_SESSIONS } = options;
  const [{ FingerprintGenerator }, { FingerprintInjector }] = await Promise.all([
    loadPeer<GeneratorPackage>('fingerprint-generator', 'useFingerprints'),
    loadPeer<InjectorPackage>('fingerprint-injector', 'useFingerprints'),
  ]);
  const injector = new FingerprintInjector();
  const known = createRecentMap<string, Fingerprint>(fingerprintCacheSize);
  // What the browser and the machine are, unless asked for otherwise: a lie less is a contradiction less.
  const defaults = { browsers: ['chrome'], ...machineOptions() };
  const generator = made(() => new FingerprintGenerator({ ...defaults, ...fingerprintGeneratorOptions }));
  const make = (wanted?: object): Fingerprint => made(() => generator.getFingerprint(wanted));

  function of(sessionId: string | undefined): Fingerprint {
    const key = useFingerprintCache ? sessionId : undefined;
    const kept = key === undefined ? undefined : known.get(key);
    if (kept) return kept;
    const fingerprint = make();
    if (key !== undefined) known.set(key, fingerprint);
    return fingerprint;
  }
  const attach = (context: BrowserContext, fingerprint: Fingerprint) =>
    injector.attachFingerprintToPlaywright(context, fingerprint);
  return {
    make,
    of,
    attach,
    attachToPage: (page, fingerprint) => injector.attachFingerprintToPuppeteer(page, fingerprint),
    contextFor(sessionId) {
      const fingerprint = of(sessionId);
      return {
        contextOptions: contextOptionsOf(fingerprint),
        prepare: (context) => attach(context, fingerprint),
      };
    },
  };
}

/** What Playwright must know when it makes the context: it cannot be changed later. */
export function contextOptionsOf({ fingerprint: { navigator, screen } }: Fingerprint): {
  userAgent: string;
  viewport: { width: number; height: number };
} {
  return { userAgent: navigator.userAgent, viewport: { width: screen.width, height: screen.height } };
}

/** The kind of machine that this one is. */
export function machineOptions(): { devices: string[]; operatingSystems: string[] } {
  return { devices: ['desktop'], operatingSystems: [SYSTEMS[process.platform] ?? 'linux'] };
}

function made<T>(make: () => T): T {
  try {
    return make();
  } catch (cause) {
    const { message } = cause as Error;
    throw new CrawlError('OPTION_INVALID', `fingerprintOptions.fingerprintGeneratorOptions: ${message}`, { cause });
  }
}
