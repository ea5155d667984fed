// minimatch and picomatch alone against ours, on URLs that a page can contain: the worst case of one test.
import { cpuMs, load, source } from './from.mjs';

const { createGlobMatcher } = await source('request/glob.ts');
const { Minimatch } = await load('minimatch');
const picomatch = await load('picomatch');
for (const [glob, letters] of [
  ['https://e.com/*a*a*a*a*a*a*b', 30],
  ['https://e.com/*a*a*a*a*a*a*b', 60],
  ['https://e.com/+(a|aa)b', 40],
]) {
  const url = `https://e.com/${'a'.repeat(letters)}c`;
  const tests = {
    ours: createGlobMatcher(new Minimatch(glob)),
    minimatch: (text) => new Minimatch(glob).match(text),
    picomatch: picomatch(glob),
  };
  for (const [name, test] of Object.entries(tests)) {
    const [ms] = await cpuMs(() => test(url));
    console.log(`${glob} on ${letters} letters, ${name}: ${ms.toFixed(1)} CPU-ms`);
  }
}
