// A TLS session as cached for the next connection: without the server's certificate if that is not needed again.
// Promise: an unreadable session is kept unchanged; one without its certificate resumes like one with it.

/** SSL_SESSION of OpenSSL in DER: version, protocol, cipher, id, key, then tagged fields; [3] is the certificate. */
const SEQUENCE = 0x30;
const INTEGER = 0x02;
const PEER_CERTIFICATE = 0xa3;
const TLS_1_3 = 0x0304;

/**
 * Offering a session makes OpenSSL decode all of it, and of that the certificate costs most: a third of the CPU time of
 * a resumed handshake (docs/decisions/004-http-engine.md). In TLS 1.3 nobody asks for it when a session is resumed, since
 * a session is kept only after its certificate was verified; in TLS 1.2 Node verifies it again.
 */
export function withoutCertificate(session: Buffer): Buffer {
  const outer = fieldAt(session, 0);
  if (outer?.tag !== SEQUENCE || outer.end !== session.length) return session;
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let position = 0;
  for (let at = outer.content; at < outer.end; position++) {
    const field = fieldAt(session, at);
    if (!field || field.end > outer.end) return session;
    if (position === 1 && !isTls13(session, field)) return session;
    if (field.tag !== PEER_CERTIFICATE) {
      kept.push(session.subarray(at, field.end));
      keptBytes += field.end - at;
    }
    at = field.end;
  }
  return position < 2 ? session : Buffer.concat([headOf(keptBytes), ...kept]);
}

interface Field {
  readonly tag: number;
  /** Where its content begins, and where the next field does. */
  readonly content: number;
  readonly end: number;
}

function fieldAt(bytes: Buffer, at: number): Field | undefined {
  const first = bytes[at + 1];
  if (first === undefined) return undefined;
  if (first < 0x80) return { tag: bytes[at]!, content: at + 2, end: at + 2 + first };
  const lengthBytes = first & 0x7f;
  const content = at + 2 + lengthBytes;
  // A session has kilobytes, not gigabytes.
  if (lengthBytes === 0 || lengthBytes > 3 || content > bytes.length) return undefined;
  return { tag: bytes[at]!, content, end: content + bytes.readUIntBE(at + 2, lengthBytes) };
}

function isTls13(bytes: Buffer, { tag, content, end }: Field): boolean {
  return tag === INTEGER && end - content === 2 && bytes.readUInt16BE(content) === TLS_1_3;
}

function headOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([SEQUENCE, length]);
  if (length < 0x100) return Buffer.from([SEQUENCE, 0x81, length]);
  if (length < 0x10000) return Buffer.from([SEQUENCE, 0x82, length >> 8, length & 0xff]);
  return Buffer.from([SEQUENCE, 0x83, length >> 16, (length >> 8) & 0xff, length & 0xff]);
}
