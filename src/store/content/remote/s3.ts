// Objects in S3, or in a store that speaks its protocol.
// Promise: an upload resolves only when the store has all of the file; every part carries a checksum that the store
// compares. Memory holds one part. Credentials, region and endpoint come from the usual AWS settings.
import { open, stat } from 'node:fs/promises';
import type { S3Client as Client, S3ClientConfig } from '@aws-sdk/client-s3';
import { killPoint } from '../../../base/kill-points.js';
import { CrawlError } from '../../../errors.js';
import type { ObjectPlace, ObjectStore } from './objects.js';

type Sdk = typeof import('@aws-sdk/client-s3');

/** S3 takes at most 10,000 parts of at least 5 MiB. A file up to one part goes in one request. */
const PART_BYTES = 8 * 1024 * 1024;
const MAX_PARTS = 10_000;
const ATTEMPTS = 6;
const CONNECT_MS = 10_000;
const REQUEST_MS = 120_000;

export async function openS3({ bucket, prefix }: ObjectPlace): Promise<ObjectStore> {
  const sdk = await loadSdk();
  const url = `s3://${bucket}/${prefix}`.replace(/\/$/, '');
  const client = newClient(sdk);
  const at = (name: string) => ({ Bucket: bucket, Key: prefix + name });

  async function sizeOf(name: string): Promise<number | undefined> {
    try {
      const { ContentLength } = await client.send(new sdk.HeadObjectCommand(at(name)));
      return ContentLength;
    } catch (error) {
      if (isAbsent(error)) return undefined;
      throw failed(url, error);
    }
  }

  return {
    url,
    sizeOf,
    async check() {
      // Listing needs the bucket, the credentials and the region to be right.
      const ask = new sdk.ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, MaxKeys: 1 });
      await client.send(ask).catch((error: unknown) => {
        throw failed(url, error);
      });
    },
    async *list() {
      let token: string | undefined;
      do {
        const ask = new sdk.ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, ContinuationToken: token });
        const page = await client.send(ask).catch((error: unknown) => {
          throw failed(url, error);
        });
        for (const { Key, Size } of page.Contents ?? []) {
          if (Key !== undefined) yield { name: Key.slice(prefix.length), bytes: Size ?? 0 };
        }
        token = page.IsTruncated ? page.NextContinuationToken : undefined;
      } while (token !== undefined);
    },
    async read(name, fromByte, toByte) {
      if (toByte <= fromByte) return Buffer.alloc(0);
      try {
        const Range = `bytes=${fromByte}-${toByte - 1}`;
        const { Body } = await client.send(new sdk.GetObjectCommand({ ...at(name), Range }));
        return Buffer.from((await Body?.transformToByteArray()) ?? []);
      } catch (error) {
        // Beyond its end there is nothing.
        if ((error as { name?: string }).name === 'InvalidRange') return Buffer.alloc(0);
        throw failed(url, error);
      }
    },
    async upload(name, path) {
      try {
        const { size: bytes } = await stat(path);
        const isInParts = bytes > PART_BYTES;
        if (isInParts) await giveUpEarlier(sdk, client, at(name));
        // An attempt before this one may have got so far.
        if ((await sizeOf(name)) === bytes) return;
        await send(sdk, client, at(name), path);
        // A begun upload whose answer was lost was begun again: the first one is still there.
        if (isInParts) await giveUpEarlier(sdk, client, at(name));
        const there = await sizeOf(name);
        if (there === bytes) return;
        throw new Error(`${name} has ${there ?? 'no'} bytes there, ${bytes} here`);
      } catch (error) {
        throw failed(url, error);
      }
    },
    close: () => client.destroy(),
  };
}

/** Sends a file, in parts where it is large. */
async function send(sdk: Sdk, client: Client, at: { Bucket: string; Key: string }, path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const partBytes = Math.max(PART_BYTES, Math.ceil(size / MAX_PARTS));
    const portion = async (from: number): Promise<Buffer> => {
      const bytes = Buffer.allocUnsafe(Math.min(partBytes, size - from));
      for (let filled = 0; filled < bytes.length;) {
        const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, from + filled);
        if (bytesRead === 0) throw new Error(`${path} became shorter`);
        filled += bytesRead;
      }
      return bytes;
    };
    if (size <= PART_BYTES) {
      await client.send(new sdk.PutObjectCommand({ ...at, Body: await portion(0), ChecksumAlgorithm: 'CRC32' }));
      return;
    }
    const { UploadId } = await client.send(new sdk.CreateMultipartUploadCommand({ ...at, ChecksumAlgorithm: 'CRC32' }));
    const upload = { ...at, UploadId };
    try {
      const Parts = [];
      for (let from = 0; from < size; from += partBytes) {
        const PartNumber: number = Parts.length + 1;
        const part = { ...upload, PartNumber, Body: await portion(from), ChecksumAlgorithm: 'CRC32' as const };
        const { ETag, ChecksumCRC32 } = await client.send(new sdk.UploadPartCommand(part));
        Parts.push({ PartNumber, ETag, ChecksumCRC32 });
        killPoint('ship.amid-upload');
      }
      await client.send(new sdk.CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }));
    } catch (error) {
      // Its parts would be kept, and paid for. If this fails too, the next attempt gives it up.
      await client.send(new sdk.AbortMultipartUploadCommand(upload)).catch(() => undefined);
      throw error;
    }
  } finally {
    await file.close();
  }
}

/** What attempts at this name left that died halfway. */
async function giveUpEarlier(sdk: Sdk, client: Client, at: { Bucket: string; Key: string }): Promise<void> {
  const { Bucket, Key } = at;
  const ask = new sdk.ListMultipartUploadsCommand({ Bucket, Prefix: Key });
  // Some stores do not list uploads; they give up old ones by themselves.
  const { Uploads = [] } = await client.send(ask).catch((error: unknown) => {
    if (['NotImplemented', 'MethodNotAllowed'].includes((error as Error).name)) return { Uploads: [] };
    throw error;
  });
  for (const { Key: key, UploadId } of Uploads) {
    if (key !== Key) continue;
    await client.send(new sdk.AbortMultipartUploadCommand({ Bucket, Key, UploadId })).catch((error: unknown) => {
      if (!isAbsent(error)) throw error;
    });
  }
}

function clientConfig(): S3ClientConfig {
  // Stores that are not Amazon's rarely have a host name per bucket.
  const isElsewhere = (process.env.AWS_ENDPOINT_URL_S3 ?? process.env.AWS_ENDPOINT_URL ?? '') !== '';
  return {
    maxAttempts: ATTEMPTS,
    forcePathStyle: isElsewhere,
    requestHandler: { connectionTimeout: CONNECT_MS, requestTimeout: REQUEST_MS, throwOnRequestTimeout: true },
    // Other stores want a region to be named, but do not care which.
    ...(isElsewhere && !process.env.AWS_REGION ? { region: 'us-east-1' } : {}),
  };
}

/** Which Node the next release of the SDK needs is for its maintainers to say, not for every crawl to repeat. */
const NODE_WARNING_OFF = 'AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED';

function newClient(sdk: Sdk): Client {
  const before = process.env[NODE_WARNING_OFF];
  // The SDK asks for it when a client is made.
  process.env[NODE_WARNING_OFF] ??= 'true';
  try {
    return new sdk.S3Client(clientConfig());
  } finally {
    if (before === undefined) delete process.env[NODE_WARNING_OFF];
  }
}

async function loadSdk(): Promise<Sdk> {
  try {
    return await import('@aws-sdk/client-s3');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new CrawlError('OPTION_INVALID', 'content in S3 needs a package: npm install @aws-sdk/client-s3', { cause });
  }
}

function isAbsent(error: unknown): boolean {
  const { name, $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } };
  if (name === 'NoSuchBucket') return false;
  return name === 'NotFound' || name === 'NoSuchKey' || name === 'NoSuchUpload' || $metadata?.httpStatusCode === 404;
}

function failed(url: string, error: unknown): CrawlError {
  if (error instanceof CrawlError) return error;
  const { name, message } = error as Error;
  const what = message && message !== name ? `${name}: ${message}` : name;
  return new CrawlError('OBJECT_STORE_FAILED', `${url}: ${what}`, { cause: error });
}
