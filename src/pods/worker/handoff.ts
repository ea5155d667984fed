// Captured pages between a fetcher and a parser: one file each, whose name travels with the lease. Bodies stay
// compressed: the file is small, and only the parser pays for inflating.
// Promise: a capture that is gone, or is not whole, sends its request back to the frontier; nothing waits for it. No other
// user of the machine can read one or put one there.
import { randomBytes } from 'node:crypto';
import { readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeOwnFolder, PRIVATE_FILE } from '../../base/private-files.js';
import { killPoint } from '../../base/kill-points.js';
import { CrawlError } from '../../errors.js';
import type { Capture, Engine } from '../../fetch/engine.js';
import { contentCodings, decodeBody } from '../../fetch/http/body/body.js';
import { headerText } from '../../fetch/http/headers.js';
import { asStorageError } from '../../store/storage-errors.js';
import type { PodsConfig } from '../config/types.js';

const ENDING = '.capture';
const NOTHING = Buffer.alloc(0);

export function handoffFolder(config: PodsConfig, pod: number): string {
  return join(config.handoffDir, `pod_${pod}`);
}

/** Removes the folders of these pods that are empty, and the one around them: a crawl that is over leaves none behind. */
export async function removeEmptyHandoff(config: PodsConfig, pods: readonly number[]): Promise<void> {
  // A folder with captures stays for --resume, and so does one of another run.
  for (const pod of pods) await rmdir(handoffFolder(config, pod)).catch(() => undefined);
  await rmdir(config.handoffDir).catch(() => undefined);
}

/** The first line of the file: everything except the body. */
type CaptureHead = Omit<Capture, 'body' | 'received' | 'stream'> & { readonly bodyBytes: number };

/** A capture with an undecoded body. */
type ReceivedCapture = Omit<Capture, 'body' | 'stream'> & { readonly received: Buffer };

export interface Handoff {
  /** Writes a capture; returns its name and file size. */
  write(capture: Capture): Promise<{ name: string; bytes: number }>;
  /** Reads and removes a capture; undefined if missing or incomplete. */
  take(name: string): Promise<ReceivedCapture | undefined>;
}

export async function openHandoff(folder: string): Promise<Handoff> {
  await makeOwnFolder(folder);
  return {
    async write({ body: _body, received = NOTHING, stream: _stream, ...head }) {
      const name = `${Date.now().toString(36)}-${randomBytes(8).toString('hex')}${ENDING}`;
      const line = Buffer.from(`${JSON.stringify({ ...head, bodyBytes: received.length } satisfies CaptureHead)}\n`);
      const path = join(folder, name);
      try {
        killPoint('handoff.before-write');
        await writeFile(path, Buffer.concat([line, received]), { ...PRIVATE_FILE, flag: 'wx' });
      } catch (error) {
        await rm(path, { force: true }).catch(() => undefined);
        throw asStorageError(error, path);
      }
      killPoint('handoff.after-write');
      return { name, bytes: line.length + received.length };
    },
    async take(name) {
      if (!isCaptureName(name)) return undefined;
      const path = join(folder, name);
      killPoint('handoff.before-take');
      const file = await readFile(path).catch(() => undefined);
      await rm(path, { force: true }).catch(() => undefined);
      killPoint('handoff.after-take');
      return file && readCapture(file);
    },
  };
}

function isCaptureName(name: string): boolean {
  return /^[0-9a-z]+-[0-9a-f]{16}\.capture$/.test(name);
}

function readCapture(file: Buffer): ReceivedCapture | undefined {
  const end = file.indexOf(10);
  if (end < 0) return undefined;
  try {
    const { bodyBytes, ...head } = JSON.parse(file.toString('utf8', 0, end)) as CaptureHead;
    const received = file.subarray(end + 1);
    return received.length === bodyBytes ? { ...head, received } : undefined;
  } catch {
    return undefined;
  }
}

/** Removes orphaned captures: those not named in the parse queue. */
export async function sweepHandoff(folder: string, isNamed: (name: string) => boolean): Promise<number> {
  const files = await readdir(folder).catch(() => []);
  const orphans = files.filter((file) => isCaptureName(file) && !isNamed(file));
  for (const file of orphans) await rm(join(folder, file), { force: true });
  return orphans.length;
}

/** An engine that lends the captures left by fetchers. `nameOf` maps a request to its capture. */
export function createHandoffEngine(handoff: Handoff, nameOf: (url: string) => string | undefined): Engine {
  return {
    async visit(order, use) {
      const name = nameOf(order.url);
      const capture = name === undefined ? undefined : await handoff.take(name);
      // As if never leased: it is fetched again.
      if (!capture) throw new CrawlError('LEASE_LOST', `the capture of ${order.url} is gone`);
      const { host } = new URL(capture.loadedUrl);
      const codings = contentCodings(headerText(capture.headers, 'content-encoding'), host);
      const body = await decodeBody(capture.received, codings, order.maxBodyBytes, host);
      return use({ ...capture, body, handed: capture.handed ?? {} }, {});
    },
    close: () => Promise.resolve(),
  };
}
