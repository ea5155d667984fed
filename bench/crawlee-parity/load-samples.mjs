// Runs a compiled file of samples, in which 'crawlee' is the given library and packages are those of the current folder.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

export function loadSamples(file, crawlee) {
  const inFolder = createRequire(join(process.cwd(), 'sample.cjs'));
  const require = (name) => {
    if (name === 'crawlee') return crawlee;
    return name.startsWith('.') ? createRequire(file)(name) : inFolder(name);
  };
  const exports = {};
  new Function('require', 'exports', readFileSync(file, 'utf8'))(require, exports);
  return exports;
}
