// Builds the console's page into dist/console: one script, one style sheet, an icon and the page that names them by
// what is in them. Fails when they are more than 200 KB together.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

const FROM = 'src/console';
const TO = 'dist/console';
const MAX_BYTES = 200_000;

export async function buildConsole() {
  const bundle = await rolldown({
    input: `${FROM}/main.tsx`,
    platform: 'browser',
    tsconfig: `${FROM}/tsconfig.json`,
    transform: { target: 'es2022' },
  });
  const { output } = await bundle.generate({ format: 'esm', minify: true, sourcemap: false });
  await bundle.close();
  if (output.length !== 1) throw new Error(`the console is ${output.length} files: it must be one`);
  const script = kept('app', 'js', output[0].code);
  const style = kept('style', 'css', minified(readFileSync(join(FROM, 'style.css'), 'utf8')));
  const icon = kept('icon', 'svg', readFileSync(join(FROM, 'icon.svg'), 'utf8'));
  const page = readFileSync(join(FROM, 'index.html'), 'utf8')
    .replace('__SCRIPT__', script.name)
    .replace('__SCRIPT_HASH__', script.hash)
    .replace('__STYLE__', style.name)
    .replace('__STYLE_HASH__', style.hash)
    .replace('__ICON__', icon.name);
  mkdirSync(TO, { recursive: true });
  for (const { name, text } of [script, style, icon, { name: 'index.html', text: page }]) {
    writeFileSync(join(TO, name), text);
  }
  const bytes = [script.text, style.text, icon.text, page].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes > MAX_BYTES) throw new Error(`the console is ${bytes} bytes: at most ${MAX_BYTES} are allowed`);
  return bytes;
}

/** A file under a name that changes with its text. */
function kept(name, extension, text) {
  const digest = createHash('sha256').update(text);
  const hash = `sha256-${digest.copy().digest('base64')}`;
  return { name: `${name}-${digest.digest('hex').slice(0, 12)}.${extension}`, text, hash };
}

/** Without comments and the spaces of its layout. */
function minified(css) {
  return css
    .replace(/\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\//g, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?([{};,]) ?/g, '$1')
    .replace(/: /g, ':')
    .replace(/;}/g, '}')
    .trim();
}
