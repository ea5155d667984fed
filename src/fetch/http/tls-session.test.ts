import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withoutCertificate } from './tls-session.js';

function field(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const head =
    length < 128 ? [tag, length] : length < 256 ? [tag, 0x81, length] : [tag, 0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from(head), content]);
}

const session = (protocol: number, ...tagged: Buffer[]): Buffer =>
  field(
    0x30,
    Buffer.concat([
      field(0x02, Buffer.from([1])),
      field(0x02, Buffer.from([protocol >> 8, protocol & 255])),
      field(0x04, Buffer.from([0x13, 0x01])),
      ...tagged,
    ]),
  );

const ticket = (bytes: number): Buffer => field(0xaa, field(0x04, Buffer.alloc(bytes, 7)));
const certificate = field(0xa3, field(0x30, Buffer.alloc(900, 1)));

describe('a session that is kept', () => {
  it.each([0, 90, 150, 700])('loses its certificate and nothing else, with a ticket of %d bytes', (bytes) => {
    expect(withoutCertificate(session(0x0304, certificate, ticket(bytes)))).toEqual(session(0x0304, ticket(bytes)));
  });

  it('of TLS 1.2 stays whole: its certificate is verified again', () => {
    const whole = session(0x0303, certificate, ticket(90));
    expect(withoutCertificate(whole)).toBe(whole);
  });

  it('that is no session stays as it is', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const other = Buffer.from([0x31, ...bytes]);
        expect(withoutCertificate(other)).toBe(other);
      }),
    );
  });

  it('cut off anywhere stays as it is', () => {
    const whole = session(0x0304, certificate, ticket(90));
    for (let end = 0; end < whole.length; end++) {
      const cut = whole.subarray(0, end);
      expect(withoutCertificate(cut)).toBe(cut);
    }
  });
});
