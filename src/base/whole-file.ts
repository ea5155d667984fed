// Writes a small file so that it is whole or not there, also after a crash: a reader sees the old one or the new one.
import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';

/** Its folder exists; `mode` holds for a file that is new. */
export async function writeWhole(file: string, text: string, mode?: number): Promise<void> {
  const draft = `${file}.${process.pid}-${randomBytes(4).toString('hex')}.new`;
  try {
    const handle = await open(draft, 'wx', mode);
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
