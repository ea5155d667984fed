// gzip into memory that is there already. Node's own functions make a new zlib object and a new buffer for every body:
// as much garbage as there are pages, which V8 answers with full collections of everything else.
// Promise: the same bytes as `gunzipSync`, or undefined; `gunzipSync` then says why.
import * as zlib from 'node:zlib';

/** Inflates one whole gzip body; the number of bytes written, or -1 when it must be done (or refused) the usual way. */
export type GunzipInto = (body: Buffer, out: Buffer) => number;

/** The part of a zlib object that Node's own synchronous functions use. Not documented: tried before it is trusted. */
interface ZlibParts {
  readonly _handle?: {
    writeSync(flush: number, from: Buffer, at: number, length: number, to: Buffer, toAt: number, room: number): void;
    reset(): void;
    onerror: unknown;
  };
  /** Room left in the output, then input left. */
  readonly _writeState?: Uint32Array;
}

function createGunzipInto(): GunzipInto | undefined {
  const { _handle: handle, _writeState: state } = zlib.createGunzip({ chunkSize: 64 }) as unknown as ZlibParts;
  if (!handle || !(state instanceof Uint32Array) || typeof handle.writeSync !== 'function') return undefined;
  let failed = false;
  handle.onerror = () => {
    failed = true;
  };
  return (body, out) => {
    failed = false;
    handle.writeSync(zlib.constants.Z_FINISH, body, 0, body.length, out, 0, out.length);
    const room = state[0]!;
    handle.reset();
    // A full output may not be all of it.
    return failed || room === 0 ? -1 : out.length - room;
  };
}

/** Whether it inflates a body right, says so when the room is too small, sees damage, and works again after each. */
function isRight(gunzipInto: GunzipInto): boolean {
  const text = Buffer.from('a body of which every byte is known. '.repeat(400));
  const body = zlib.gzipSync(text);
  const cut = body.subarray(0, body.length - 9);
  const out = Buffer.alloc(text.length + 1);
  const isWhole = () => gunzipInto(body, out) === text.length && out.subarray(0, text.length).equals(text);
  return (
    isWhole() &&
    gunzipInto(body, out.subarray(0, 100)) === -1 &&
    gunzipInto(cut, out) === -1 &&
    gunzipInto(Buffer.from('no gzip at all'), out) === -1 &&
    isWhole()
  );
}

function tried(): GunzipInto | undefined {
  try {
    const made = createGunzipInto();
    return made && isRight(made) ? made : undefined;
  } catch {
    return undefined;
  }
}

let known: { readonly gunzipInto: GunzipInto | undefined } | undefined;

/** The function, or undefined where this version of Node has no such parts. */
export function gunzipIntoOf(): GunzipInto | undefined {
  return (known ??= { gunzipInto: tried() }).gunzipInto;
}
