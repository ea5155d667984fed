// Collects the pieces of a body into one buffer.
// Promise: little memory beyond the bytes, however small the pieces.

/** Pieces below this are copied together: each of them kept alone costs a Buffer, and what it was cut from. */
const SMALL_BYTES = 1_024;
const ROOM_BYTES = 16 * 1024;

export class BodyPieces {
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** Where small pieces are copied to, and how much of it is in use. */
  #room: Buffer | undefined;
  #used = 0;

  add(piece: Buffer): void {
    this.#bytes += piece.length;
    // The first is often all there is.
    if (piece.length >= SMALL_BYTES || this.#bytes === piece.length) {
      this.#flush();
      this.#pieces.push(piece);
      return;
    }
    if (this.#room === undefined || this.#used + piece.length > this.#room.length) {
      this.#flush();
      this.#room = Buffer.allocUnsafeSlow(ROOM_BYTES);
    }
    this.#used += piece.copy(this.#room, this.#used);
  }

  /** Everything in one buffer, copied at most once more; empties this one. */
  join(): Buffer {
    this.#flush();
    const [first] = this.#pieces;
    const whole = this.#pieces.length === 1 ? first! : Buffer.concat(this.#pieces, this.#bytes);
    this.drop();
    return whole;
  }

  drop(): void {
    this.#pieces = [];
    this.#bytes = this.#used = 0;
    this.#room = undefined;
  }

  #flush(): void {
    if (this.#room === undefined || this.#used === 0) return;
    this.#pieces.push(this.#room.subarray(0, this.#used));
    // What is left of it serves the next small pieces.
    const rest = this.#room.subarray(this.#used);
    this.#room = rest.length >= SMALL_BYTES ? rest : undefined;
    this.#used = 0;
  }
}
