// A self-signed certificate for the synthetic web's HTTPS mode, made at start with node's crypto alone.
// For tests on loopback only: clients trust it by passing it as their CA.
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** DER: tag, length, content. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head = length < 128 ? [tag, length] : length < 65_536 ? [tag, 0x82, length >> 8, length & 255] : undefined;
  if (!head) throw new RangeError('certificate too large');
  return Buffer.concat([Buffer.from(head), content]);
}

const SEQUENCE = 0x30;
const SET = 0x31;
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const OBJECT_ID = 0x06;
const UTF8 = 0x0c;
const UTC_TIME = 0x17;
const TRUE = Buffer.from([0x01, 0x01, 0xff]);

const oid = (hex: string): Buffer => der(OBJECT_ID, Buffer.from(hex, 'hex'));
const ECDSA_WITH_SHA256 = oid('2a8648ce3d040302');
const COMMON_NAME = oid('550403');
const BASIC_CONSTRAINTS = oid('551d13');
const SUBJECT_ALT_NAME = oid('551d11');

const utcTime = (text: string): Buffer => der(UTC_TIME, Buffer.from(text));

/**
 * A key and a certificate (PEM) for these IPv4 addresses and DNS names. Several that a client trusts at once need
 * subjects of their own: it looks them up by it.
 */
export function createCertificate(names: readonly string[], subject = 'orcrawl simweb'): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = der(SEQUENCE, ECDSA_WITH_SHA256);
  const name = der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, der(UTF8, Buffer.from(subject)))));
  const altNames = names.map((each) =>
    /^[\d.]+$/.test(each) ? der(0x87, Buffer.from(each.split('.').map(Number))) : der(0x82, Buffer.from(each)),
  );
  const extensions = der(
    SEQUENCE,
    der(SEQUENCE, BASIC_CONSTRAINTS, TRUE, der(OCTET_STRING, der(SEQUENCE, TRUE))),
    der(SEQUENCE, SUBJECT_ALT_NAME, der(OCTET_STRING, der(SEQUENCE, ...altNames))),
  );
  // A leading 01 keeps the serial number positive.
  const serial = Buffer.concat([Buffer.from([1]), randomBytes(15)]);
  const body = der(
    SEQUENCE,
    der(0xa0, der(INTEGER, Buffer.from([2]))),
    der(INTEGER, serial),
    algorithm,
    name,
    der(SEQUENCE, utcTime('200101000000Z'), utcTime('491231235959Z')),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  );
  const signature = sign('sha256', body, privateKey);
  const whole = der(SEQUENCE, body, algorithm, der(BIT_STRING, Buffer.from([0]), signature));
  const base64 = whole.toString('base64').replace(/.{64}/g, '$&\n').trimEnd();
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    cert: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`,
  };
}
