import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { getSurt, WARCParser } from 'warcio';
import { surtOf } from './cdxj.js';
import { conversionRecord, gzipRecord, newRecordId, responseRecord, sha1Base32, warcinfoRecord } from './warc.js';
import { parseRecord, parseResponse, readGzippedRecord } from './warc-reading.js';

const DATE_MS = Date.UTC(2026, 0, 31, 23, 59, 59, 123);

async function readByWarcio(file: Uint8Array) {
  const records = [];
  for await (const record of WARCParser.iterRecords([file])) {
    const payload = Buffer.from((await record.readFully(false)) ?? []);
    records.push({ type: record.warcType, record, payload });
  }
  return records;
}

function base32Reference(bytes: Uint8Array): string {
  const bits = [...createHash('sha1').update(bytes).digest()].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return bits
    .match(/.{5}/g)!
    .map((five) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[Number.parseInt(five, 2)])
    .join('');
}

describe('digests', () => {
  it('are the base 32 of the SHA-1', () => {
    // The digest of nothing that archives are full of.
    expect(sha1Base32(Buffer.alloc(0))).toBe('3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ');
    fc.assert(fc.property(fc.uint8Array(), (bytes) => sha1Base32(bytes) === base32Reference(bytes)));
  });
});

describe('records', () => {
  it('are read by warcio, one gzip member each', async () => {
    const info = warcinfoRecord({
      filename: 'a.warc.gz',
      dateMs: DATE_MS,
      fields: { software: 'orcrawl', format: 'x' },
    });
    const recordId = newRecordId();
    const response = responseRecord({
      targetUri: 'https://example.com/ä b',
      dateMs: DATE_MS,
      recordId,
      response: {
        statusCode: 200,
        headers: { 'content-type': 'text/html', 'set-cookie': ['a=1', 'b=2'] },
        body: Buffer.from('<p>kettle</p>'),
        bodyIs: 'as-received',
        ipAddress: '192.0.2.7',
        truncated: 'length',
      },
    });
    const text = Buffer.from('Kessel für Tee');
    const conversion = conversionRecord({
      targetUri: 'https://example.com/',
      dateMs: DATE_MS,
      text,
      refersTo: recordId,
    });
    const members: Buffer[] = [];
    for (const { bytes } of [info, response, conversion]) members.push(await gzipRecord(bytes, 3));
    const records = await readByWarcio(Buffer.concat(members));

    expect(records.map(({ type }) => type)).toEqual(['warcinfo', 'response', 'conversion']);
    expect(records[0]!.payload.toString()).toBe('software: orcrawl\r\nformat: x\r\n');
    const { record, payload } = records[1]!;
    expect(record.warcTargetURI).toBe('https://example.com/ä%20b');
    expect(record.warcDate).toBe('2026-01-31T23:59:59.123Z');
    expect(record.warcHeader('WARC-Record-ID')).toBe(`<urn:uuid:${recordId}>`);
    expect(record.warcHeader('WARC-IP-Address')).toBe('192.0.2.7');
    expect(record.warcHeader('WARC-Truncated')).toBe('length');
    expect(record.warcHeader('WARC-Payload-Digest')).toBe(`sha1:${base32Reference(Buffer.from('<p>kettle</p>'))}`);
    const block = parseRecord(response.bytes)!.block;
    expect(record.warcHeader('WARC-Block-Digest')).toBe(`sha1:${base32Reference(block)}`);
    expect(record.httpHeaders?.statusCode).toBe(200);
    expect(payload.toString()).toBe('<p>kettle</p>');
    expect(records[2]!.record.warcHeader('WARC-Refers-To')).toBe(`<urn:uuid:${recordId}>`);
    expect(records[2]!.payload).toEqual(text);
    for (const member of members) expect(readGzippedRecord(member)).toBeDefined();
  });

  it('describe the body that they hold, and keep what the server said about it', () => {
    const body = Buffer.from('plain by now');
    const headers = { 'content-encoding': 'gzip', 'transfer-encoding': 'chunked', 'content-length': '7', etag: '"1"' };
    const decoded = responseRecord({
      targetUri: 'https://example.com/',
      dateMs: DATE_MS,
      response: { statusCode: 404, headers, body, bodyIs: 'decoded' },
    });
    expect(parseResponse(parseRecord(decoded.bytes)!.block)).toEqual({
      statusCode: 404,
      statusText: 'Not Found',
      headers: {
        'x-crawler-content-encoding': 'gzip',
        'x-crawler-transfer-encoding': 'chunked',
        'x-crawler-content-length': '7',
        etag: '"1"',
        'content-length': '12',
      },
      body,
    });
    const received = responseRecord({
      targetUri: 'https://example.com/',
      dateMs: DATE_MS,
      response: { statusCode: 200, headers, body, bodyIs: 'as-received' },
    });
    expect(parseResponse(parseRecord(received.bytes)!.block)?.headers['content-encoding']).toBe('gzip');
  });

  it('come back whole, whatever a server sends', async () => {
    const anything = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('latin1'));
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(anything, fc.oneof(anything, fc.array(anything, { maxLength: 3 }))),
        anything,
        fc.uint8Array({ maxLength: 300 }),
        async (headers, targetUri, body) => {
          const response = { statusCode: 200, statusText: targetUri, headers, body, bodyIs: 'as-received' } as const;
          const { bytes } = responseRecord({ targetUri, dateMs: DATE_MS, response });
          const member = await gzipRecord(bytes, 1);
          expect(gunzipSync(member).equals(bytes)).toBe(true);
          const parsed = readGzippedRecord(member);
          expect(parsed?.headers.get('content-type')).toBe('application/http; msgtype=response');
          expect(parseResponse(parsed!.block)?.body.equals(body)).toBe(true);
        },
      ),
    );
  });

  it('that are torn are none', async () => {
    const { bytes } = conversionRecord({
      targetUri: 'https://example.com/',
      dateMs: DATE_MS,
      text: Buffer.from('tea'),
    });
    const member = await gzipRecord(bytes, 6);
    for (let end = 0; end < member.length; end++) expect(readGzippedRecord(member.subarray(0, end))).toBeUndefined();
    for (let end = 0; end < bytes.length; end++) expect(parseRecord(bytes.subarray(0, end))).toBeUndefined();
  });
});

describe('SURT keys', () => {
  it('equal those of warcio for ordinary pages', () => {
    const urls = [
      'https://example.com/a/b?c=1',
      'http://www.example.co.uk:8080/Path',
      'https://sub.example.com/x.html',
    ];
    for (const url of urls) expect(surtOf(url), url).toBe(getSurt(url));
  });
});
