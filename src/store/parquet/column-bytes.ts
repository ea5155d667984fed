// A buffer that grows: what values of a Parquet column become, one after the other, in the encoding PLAIN.
// Promise: little-endian on every machine; a copy is made when it grows, and never on reading.

/** A table may have thousands of columns with few values. */
const FIRST_BYTES = 1_024;
const HIGH = 2 ** 32;

export class ColumnBytes {
  length = 0;
  #buffer: Buffer;
  #view: DataView;

  constructor(bytes = FIRST_BYTES) {
    this.#buffer = Buffer.from(new ArrayBuffer(bytes));
    this.#view = new DataView(this.#buffer.buffer);
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#buffer[this.length++] = value;
  }

  /** A safe integer as 64 bits. */
  integer(value: number): void {
    this.#reserve(8);
    const high = Math.floor(value / HIGH);
    this.#view.setUint32(this.length, value - high * HIGH, true);
    this.#view.setInt32(this.length + 4, high, true);
    this.length += 8;
  }

  double(value: number): void {
    this.#reserve(8);
    this.#view.setFloat64(this.length, value, true);
    this.length += 8;
  }

  /** UTF-8 after its length. */
  text(value: string): void {
    // A UTF-16 unit takes three bytes at most.
    this.#reserve(4 + value.length * 3);
    const bytes = this.#buffer.write(value, this.length + 4, 'utf8');
    this.#view.setUint32(this.length, bytes, true);
    this.length += 4 + bytes;
  }

  /** What was written since the last `clear`; valid until the next write. */
  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.length);
  }

  clear(): void {
    this.length = 0;
  }

  #reserve(bytes: number): void {
    const needed = this.length + bytes;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.from(new ArrayBuffer(Math.max(needed, this.#buffer.length * 2)));
    larger.set(this.bytes());
    this.#buffer = larger;
    this.#view = new DataView(larger.buffer);
  }
}
