// Pictures and documents of pages: --screenshot and --pdf, into a folder per kind, each named by its page's path.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { withoutLogin } from '../../request/login.js';
import { asStorageError } from '../../store/storage-errors.js';
import { createPageNames } from './names.js';

export interface ArtifactFolders {
  readonly screenshot?: string | undefined;
  readonly pdf?: string | undefined;
}

export interface Artifacts {
  readonly url: string;
  readonly screenshot?: Uint8Array | null;
  readonly pdf?: Uint8Array | null;
}

/** Undefined when nothing is asked for. */
export function createArtifactWriter({ screenshot, pdf }: ArtifactFolders) {
  if (screenshot === undefined && pdf === undefined) return undefined;
  const nameOf = { screenshot: createPageNames('png'), pdf: createPageNames('pdf') };
  return {
    async write(page: Artifacts): Promise<void> {
      const folders = { screenshot, pdf };
      for (const kind of ['screenshot', 'pdf'] as const) {
        const folder = folders[kind];
        const bytes = page[kind];
        if (folder === undefined || !bytes) continue;
        const file = path.join(folder, nameOf[kind](withoutLogin(page.url).url));
        await writeArtifact(file, bytes);
      }
    },
  };
}

/** Writes one file, with the folders it is in. */
export async function writeArtifact(file: string, bytes: Uint8Array | string): Promise<void> {
  try {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, bytes);
  } catch (error) {
    throw asStorageError(error, file, 'choose another file');
  }
}
