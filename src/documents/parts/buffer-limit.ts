// Limits what a process holds outside of its heap: the limit of the heap does not count buffers, and a PDF of a few KB may
// unpack to gigabytes. Promise: an allocation that would pass the limit throws before the memory is used, and is known
// afterwards, whatever becomes of the error.
import { limitReached, LIMITS } from '../../limits.js';
import { DocumentFailure } from '../model.js';

/** Looked at again after so many bytes: asking what is held costs some microseconds. */
const EVERY_BYTES = 8 * 1024 * 1024;

/** Replaces the global byte arrays of this process by ones that count. Gives what was refused since it was last asked. */
export function limitBuffers(maxBytes: number = LIMITS.documentBufferBytes.max): () => DocumentFailure | undefined {
  let sinceAsked = 0;
  let refused: DocumentFailure | undefined;
  function claim(bytes: number): void {
    sinceAsked += bytes;
    if (sinceAsked < EVERY_BYTES) return;
    sinceAsked = 0;
    if (bytes + process.memoryUsage().arrayBuffers > maxBytes) {
      limitReached('documentBufferBytes');
      const megabytes = Math.round(maxBytes / 1024 ** 2);
      refused = new DocumentFailure('DOCUMENT_LIMIT', `the file unpacks to more than ${megabytes} MB`);
      throw refused;
    }
  }
  for (const name of [
    'Uint8Array',
    'Uint8ClampedArray',
    'Uint16Array',
    'Uint32Array',
    'Int32Array',
    'Float32Array',
  ] as const) {
    const original = globalThis[name] as unknown as new (...args: unknown[]) => object;
    const { BYTES_PER_ELEMENT: width } = globalThis[name];
    const counted: object = new Proxy(original, {
      construct(target, args: unknown[], newTarget) {
        const [length] = args;
        if (typeof length === 'number') claim(length * width);
        return Reflect.construct(target, args, newTarget === counted ? target : newTarget) as object;
      },
    });
    Object.defineProperty(globalThis, name, { value: counted, configurable: true, writable: true });
  }
  return () => {
    const failure = refused;
    refused = undefined;
    return failure;
  };
}
