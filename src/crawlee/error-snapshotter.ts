// Crawlee's snapshots of errors: the page of the first error of each kind, kept in the key-value store.
// Promise: a snapshot that cannot be taken never hides the error that it is about.
import { createHash } from 'node:crypto';
import {
  ErrorTracker as OwnErrorTracker,
  type ErrorTrackerOptions,
  type TrackedError,
} from '../observe/error-tracker.js';
import { log } from '../observe/log.js';
import type { KeyValueStore } from '../store/records/key-value.js';

/** The files of a snapshot. */
export interface SnapshotResult {
  screenshotFileName?: string;
  htmlFileName?: string;
}
/** The files of a snapshot and where they are; a store that has no addresses gives names only. */
export interface ErrorSnapshot extends SnapshotResult {
  screenshotFileUrl?: string;
  htmlFileUrl?: string;
}
/** What a snapshot needs of a handler's context. */
export interface SnapshotContext {
  body?: unknown;
  page?: { content(): Promise<string> };
  saveSnapshot?: (options: { key: string }) => Promise<void>;
  getKeyValueStore?: () => Promise<KeyValueStore>;
}

/**
 * Saves what a page showed when a request failed.
 *
 * @example
 * const { htmlFileName } = await new ErrorSnapshotter().captureSnapshot(error, context);
 */
export class ErrorSnapshotter {
  static readonly MAX_ERROR_CHARACTERS = 30;
  static readonly MAX_HASH_LENGTH = 30;
  static readonly MAX_FILENAME_LENGTH = 250;
  static readonly BASE_MESSAGE = 'An error occurred';
  static readonly SNAPSHOT_PREFIX = 'ERROR_SNAPSHOT';

  async captureSnapshot(error: TrackedError, context: SnapshotContext): Promise<ErrorSnapshot> {
    try {
      const store = await context.getKeyValueStore?.();
      const fileName = this.generateFilename(error);
      const files = await this.#save(fileName, context, store);
      const { screenshotFileName, htmlFileName } = files;
      const [screenshotFileUrl, htmlFileUrl] = [addressOf(store, screenshotFileName), addressOf(store, htmlFileName)];
      return {
        ...files,
        ...(screenshotFileUrl === undefined ? {} : { screenshotFileUrl }),
        ...(htmlFileUrl === undefined ? {} : { htmlFileUrl }),
      };
    } catch (failure) {
      log.debug(`no snapshot of an error: ${String(failure)}`);
      return {};
    }
  }

  /** The snapshot that a browser's context takes; undefined when it fails. */
  async contextCaptureSnapshot(context: SnapshotContext, fileName: string): Promise<SnapshotResult | undefined> {
    try {
      await context.saveSnapshot?.({ key: fileName });
      return { screenshotFileName: `${fileName}.jpg`, htmlFileName: `${fileName}.html` };
    } catch {
      return undefined;
    }
  }

  /** The name of the file; undefined when it could not be written. */
  async saveHTMLSnapshot(html: string, keyValueStore: KeyValueStore, fileName: string): Promise<string | undefined> {
    try {
      await keyValueStore.setValue(fileName, html, { contentType: 'text/html' });
      return `${fileName}.html`;
    } catch {
      return undefined;
    }
  }

  /** One name per place and message, safe as a key. */
  generateFilename({ stack, message }: TrackedError): string {
    const { SNAPSHOT_PREFIX, BASE_MESSAGE, MAX_HASH_LENGTH, MAX_ERROR_CHARACTERS, MAX_FILENAME_LENGTH } =
      ErrorSnapshotter;
    const hash = createHash('sha1')
      .update(stack || message || '')
      .digest('hex');
    const words = (message || BASE_MESSAGE).slice(0, MAX_ERROR_CHARACTERS).match(/[\p{L}\p{N}]+/gu) ?? [];
    const parts = [SNAPSHOT_PREFIX, hash.slice(0, MAX_HASH_LENGTH), words.join('-')];
    return parts
      .join('_')
      .replace(/[^\w-]/g, '')
      .slice(0, MAX_FILENAME_LENGTH);
  }

  async #save(fileName: string, context: SnapshotContext, store: KeyValueStore | undefined): Promise<SnapshotResult> {
    if (context.saveSnapshot) {
      const taken = await this.contextCaptureSnapshot(context, fileName);
      if (taken) return taken;
    }
    const html = context.page ? await context.page.content() : context.body;
    const isText = typeof html === 'string' || Buffer.isBuffer(html);
    const htmlFileName = isText && store ? await this.saveHTMLSnapshot(html.toString(), store, fileName) : undefined;
    return htmlFileName === undefined ? {} : { htmlFileName };
  }
}

function addressOf(store: KeyValueStore | undefined, file: string | undefined): string | undefined {
  const { getPublicUrl } = (store ?? {}) as { getPublicUrl?: (key: string) => string };
  return file === undefined ? undefined : getPublicUrl?.call(store, file);
}

/**
 * Counts errors by kind and, if asked to, saves what the page of the first of each kind showed.
 *
 * @example
 * const tracker = new ErrorTracker({ saveErrorSnapshots: true });
 * await tracker.addAsync(error, context);
 */
export class ErrorTracker extends OwnErrorTracker {
  readonly errorSnapshotter: ErrorSnapshotter | undefined;

  constructor(options: Partial<ErrorTrackerOptions> = {}) {
    super(options);
    this.errorSnapshotter = options.saveErrorSnapshots ? new ErrorSnapshotter() : undefined;
  }

  override async addAsync(error: TrackedError, context?: SnapshotContext): Promise<void> {
    const node = this.count(error);
    if (node.count === 1 && context) await this.captureSnapshot(node, error, context);
  }

  /** Takes a snapshot and says in `storage` where it is. */
  async captureSnapshot(
    storage: Record<string, unknown>,
    error: TrackedError,
    context: SnapshotContext,
  ): Promise<void> {
    const taken = await this.errorSnapshotter?.captureSnapshot(error, context);
    if (taken) Object.assign(storage, filesOf(taken));
  }
}

/** A snapshot as the statistics name it. */
export function filesOf({ screenshotFileUrl, screenshotFileName, htmlFileUrl, htmlFileName }: ErrorSnapshot) {
  return {
    ...(screenshotFileName === undefined ? {} : { firstErrorScreenshotUrl: screenshotFileUrl ?? screenshotFileName }),
    ...(htmlFileName === undefined ? {} : { firstErrorHtmlUrl: htmlFileUrl ?? htmlFileName }),
  };
}
