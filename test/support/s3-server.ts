// A small server that speaks S3's protocol, for tests: buckets in memory, checksums compared, failures on demand.
// It keeps S3's rules: parts of at least 5 MiB, an object only when its upload is completed, 404 for what is absent.
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { crc32 } from 'node:zlib';

/** What goes wrong with a request: an answer in its place, or a cut before or after it took effect. */
export type Trouble = { status: number; code: string } | 'cut-before' | 'cut-amid' | 'cut-after' | undefined;

export interface S3Request {
  readonly method: string;
  readonly key: string;
  readonly query: URLSearchParams;
}

interface Upload {
  readonly key: string;
  readonly parts: Map<number, Buffer>;
}

const MIN_PART_BYTES = 5 * 1024 * 1024;

export async function startS3() {
  const buckets = new Map<string, Map<string, Buffer>>();
  const uploads = new Map<string, Upload>();
  /** How often each object was put in place. */
  const writes = new Map<string, number>();
  /** Objects that were put in place again with other bytes. */
  const changed = new Set<string>();
  let trouble: (request: S3Request) => Trouble = () => undefined;
  const seen: S3Request[] = [];

  const server = createServer((request, response) => {
    void handle(request, response).catch(() => request.socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://s3');
    const [, bucket = '', ...rest] = url.pathname.split('/').map(decodeURIComponent);
    const asked: S3Request = { method: request.method ?? '', key: rest.join('/'), query: url.searchParams };
    seen.push(asked);
    const wrong = trouble(asked);
    if (wrong === 'cut-before') return void request.socket.destroy();
    if (wrong === 'cut-amid') {
      // A request without a body has no midst.
      if (asked.method === 'PUT' || asked.method === 'POST') await once(request, 'data').catch(() => undefined);
      return void request.socket.destroy();
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const answer =
      typeof wrong === 'object'
        ? refusal(wrong.status, wrong.code)
        : answerTo(asked, bucket, Buffer.concat(chunks), request.headers);
    if (wrong === 'cut-after') return void request.socket.destroy();
    response.writeHead(answer.status, answer.headers);
    response.end(asked.method === 'HEAD' ? undefined : answer.body);
  }

  function put(bucket: Map<string, Buffer>, key: string, bytes: Buffer): void {
    if (bucket.get(key)?.equals(bytes) === false) changed.add(key);
    bucket.set(key, bytes);
    writes.set(key, (writes.get(key) ?? 0) + 1);
  }

  function answerTo(
    { method, key, query }: S3Request,
    name: string,
    body: Buffer,
    headers: IncomingMessage['headers'],
  ) {
    const bucket = buckets.get(name);
    if (!bucket) return refusal(404, 'NoSuchBucket');
    if (key === '' && query.has('uploads')) {
      const found = [...uploads].filter(([, upload]) => upload.key.startsWith(query.get('prefix') ?? ''));
      const text = found.map(([id, upload]) => `<Upload><Key>${upload.key}</Key><UploadId>${id}</UploadId></Upload>`);
      return xml(`<ListMultipartUploadsResult>${text.join('')}</ListMultipartUploadsResult>`);
    }
    if (key === '') return listing(bucket, query);
    if (method === 'POST' && query.has('uploads')) {
      const id = randomUUID();
      uploads.set(id, { key, parts: new Map() });
      return xml(`<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`);
    }
    const id = query.get('uploadId');
    const upload = id === null ? undefined : uploads.get(id);
    if (id !== null && upload === undefined) return refusal(404, 'NoSuchUpload');
    if (method === 'PUT') {
      const given = headers['x-amz-checksum-crc32'];
      const counted = Buffer.alloc(4);
      counted.writeUInt32BE(crc32(body));
      if (given === undefined) return refusal(400, 'MissingChecksum');
      if (given !== counted.toString('base64')) return refusal(400, 'BadDigest');
      if (upload) upload.parts.set(Number(query.get('partNumber')), body);
      else put(bucket, key, body);
      return { status: 200, headers: { etag: etagOf(body), 'x-amz-checksum-crc32': given }, body: '' };
    }
    if (method === 'POST' && upload) {
      const parts = [...upload.parts].sort(([a], [b]) => a - b);
      const named = [...body.toString().matchAll(/<ETag>(.*?)<\/ETag>/g)].map(([, tag = '']) =>
        tag.replaceAll('&quot;', '"'),
      );
      if (named.join() !== parts.map(([, bytes]) => etagOf(bytes)).join()) return refusal(400, 'InvalidPart');
      if (parts.slice(0, -1).some(([, bytes]) => bytes.length < MIN_PART_BYTES)) return refusal(400, 'EntityTooSmall');
      put(bucket, key, Buffer.concat(parts.map(([, bytes]) => bytes)));
      uploads.delete(id!);
      return xml(`<CompleteMultipartUploadResult><Key>${key}</Key></CompleteMultipartUploadResult>`);
    }
    if (method === 'DELETE' && id !== null) {
      uploads.delete(id);
      return { status: 204, headers: {}, body: '' };
    }
    const object = bucket.get(key);
    if (object === undefined) return refusal(404, 'NoSuchKey');
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? [];
    if (from !== undefined && Number(from) >= object.length) return refusal(416, 'InvalidRange');
    const bytes = from === undefined ? object : object.subarray(Number(from), Number(to) + 1);
    const head = { 'content-length': String(bytes.length), etag: etagOf(object) };
    return { status: from === undefined ? 200 : 206, headers: head, body: bytes };
  }

  function listing(bucket: Map<string, Buffer>, query: URLSearchParams) {
    const most = Math.min(1_000, Number(query.get('max-keys') ?? 1_000));
    const after = query.get('continuation-token') ?? '';
    const keys = [...bucket.keys()].filter((key) => key.startsWith(query.get('prefix') ?? '') && key > after).sort();
    const shown = keys.slice(0, most);
    const contents = shown.map(
      (key) => `<Contents><Key>${key}</Key><Size>${bucket.get(key)!.length}</Size></Contents>`,
    );
    const more = keys.length > most;
    const token = more ? `<NextContinuationToken>${shown.at(-1)}</NextContinuationToken>` : '';
    return xml(`<ListBucketResult>${contents.join('')}<IsTruncated>${more}</IsTruncated>${token}</ListBucketResult>`);
  }

  return {
    endpoint: `http://127.0.0.1:${port}`,
    seen,
    writes,
    changed,
    /** Uploads that were begun and neither completed nor given up. */
    get unfinished() {
      return uploads.size;
    },
    bucket(name: string): Map<string, Buffer> {
      const bucket = buckets.get(name) ?? new Map<string, Buffer>();
      buckets.set(name, bucket);
      return bucket;
    },
    dropBucket: (name: string) => buckets.delete(name),
    /** Decides what goes wrong from now on. */
    fail(decide: (request: S3Request) => Trouble) {
      trouble = decide;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const etagOf = (bytes: Buffer) => `"${createHash('md5').update(bytes).digest('hex')}"`;

function xml(body: string) {
  return { status: 200, headers: { 'content-type': 'application/xml' } as Record<string, string>, body };
}

function refusal(status: number, code: string) {
  return { ...xml(`<Error><Code>${code}</Code><Message>${code}</Message></Error>`), status };
}
