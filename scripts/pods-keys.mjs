// Writes docs/pods-keys.md from src/pods/config/key-reference.ts; with --check only compares it.
import { readFile, writeFile } from 'node:fs/promises';
import { createJiti } from 'jiti';

const PAGE = 'docs/pods-keys.md';
const { referencePage } = await createJiti(import.meta.url).import('../src/pods/config/reference-page.ts');
const made = referencePage();
if (process.argv.includes('--check')) {
  if ((await readFile(PAGE, 'utf8').catch(() => '')) !== made) {
    console.error(`${PAGE} is not what key-reference.ts says: run npm run docs:keys`);
    process.exitCode = 1;
  }
} else await writeFile(PAGE, made);
