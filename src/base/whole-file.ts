// Writes a small file so that it is whole or not there, also after a crash: a reader sees the old one or the new one.
// Only its owner can read it.
import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { PRIVATE_FILE } from './private-files.js';

/** Its folder must exist. */
export async function writeWhole(file: string, text: string): Promise<void> {
  const draft = `${file}.${process.pid}-${randomBytes(4).toString('hex')}.new`;
  try {
    const handle = await open(draft, 'wx', PRIVATE_FILE.mode);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw error;
  }
}
