// The files of the project templates, as they lie in templates/ of the package.
// Alone in its module: it names a folder beside it.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../../../templates/', import.meta.url));

/** Their text, by their place in a new project. */
export function templateFiles(template: string): Map<string, string> {
  const files = new Map<string, string>();
  for (const part of ['common', template]) {
    const folder = path.join(FOLDER, part);
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const file = path.join(entry.parentPath, entry.name);
      // npm leaves a file called .gitignore out of packages.
      const place = path.relative(folder, file).replace(/^gitignore$/, '.gitignore');
      files.set(place.replaceAll('\\', '/'), readFileSync(file, 'utf8'));
    }
  }
  return files;
}
