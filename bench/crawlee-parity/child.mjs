// Scripts under one library, in a process and a folder of their own; each outcome goes to the parent as a message.
import { pathToFileURL } from 'node:url';
import { createRequire } from 'node:module';
import { loadSamples } from './load-samples.mjs';
import { startWeb } from './web.mjs';

const [library, area, ...names] = process.argv.slice(2);
// Crawlee is CommonJS: one object of all its packages. Ours is one module.
const lib = library.endsWith('.cjs')
  ? createRequire(import.meta.url)(library)
  : await import(pathToFileURL(library).href);
const { scenarios } = area.endsWith('.cjs') ? loadSamples(area, lib) : await import(pathToFileURL(area).href);
const web = await startWeb();
const host = new URL(web.url).host;
lib.log?.setLevel(lib.LogLevel?.OFF ?? 0);
const environment = { ...process.env };
for (const name of names) {
  const text = JSON.stringify(await outcomeOf(scenarios[name]), plain).replaceAll(web.url, 'WEB');
  await new Promise((resolve) => process.send({ name, text: text.replaceAll(host, 'HOST') }, resolve));
  for (const key of Object.keys(process.env)) if (!(key in environment)) delete process.env[key];
}
process.exit(0);

async function outcomeOf(scenario) {
  try {
    return { value: await scenario({ lib, url: web.url, ...tools(web.url) }) };
  } catch (error) {
    return { error: `${error?.constructor?.name}`, message: String(error?.message).slice(0, 300) };
  }
}

/** Neither the order of an object's keys nor a key that is there without a value is a difference. */
function plain(_, value) {
  return value && typeof value === 'object' && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort())
    : value;
}

/** What most scripts need: a crawler with few retries, and its run. */
function tools(url) {
  const crawl = async (Kind, options, requests) => {
    const crawler = new Kind({ maxRequestRetries: 0, maxConcurrency: 1, ...options });
    const final = await crawler.run(requests);
    return { crawler, final };
  };
  return { crawl, at: (path) => `${url}${path}`, sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)) };
}
