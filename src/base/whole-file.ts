// Files that are whole or not there, also after a crash: a reader sees the old one or the new one.
import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { PRIVATE_FILE } from './private-files.js';

/** Has a file made under another name beside it, and renames it when it is finished; a failure leaves nothing behind. */
export async function throughDraft(file: string, make: (draft: string) => Promise<unknown>): Promise<void> {
  const draft = `${file}.${process.pid}-${randomBytes(4).toString('hex')}.tmp`;
  try {
    await make(draft);
    await rename(draft, file);
  } finally {
    // Where both are links to one file, renaming leaves the draft, too.
    await rm(draft, { force: true }).catch(() => undefined);
  }
}

/** Writes a small file that only its owner can read. Its folder must exist. */
export function writeWhole(file: string, text: string): Promise<void> {
  return throughDraft(file, async (draft) => {
    const handle = await open(draft, 'wx', PRIVATE_FILE.mode);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
  });
}
