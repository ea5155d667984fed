// Reads the written site as a browser would and names every link, image and anchor that leads nowhere, and every id
// that is there twice: links go to the first one.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export function deadLinks(out) {
  const files = readdirSync(out, { recursive: true }).map((file) => file.replaceAll('\\', '/'));
  const pages = new Map(files.filter((file) => file.endsWith('.html')).map((file) => [file, read(out, file)]));
  const problems = [];
  for (const [file, { links, loads, twice }] of pages) {
    for (const id of twice) problems.push(`${file} has the id ${id} twice`);
    for (const address of loads) {
      if (/^data:/.test(address)) continue;
      if (/^([a-z]+:|\/\/)/i.test(address)) problems.push(`${file} loads ${address} from another host`);
      else if (!existsSync(path.join(out, path.posix.dirname(file), address)))
        problems.push(`${file} loads ${address}, which is not there`);
    }
    for (const href of links) {
      if (/^(https?|mailto|data):/i.test(href)) continue;
      const [name, anchor] = href.split('#');
      const to = name === '' ? file : path.posix.join(path.posix.dirname(file), name);
      const page = pages.get(to);
      if (page === undefined && !existsSync(path.join(out, to)))
        problems.push(`${file} links to ${href}, which is not there`);
      else if (anchor && page && !page.ids.has(decodeURIComponent(anchor)))
        problems.push(`${file} links to ${href}: no such section`);
    }
  }
  return problems;
}

function read(out, file) {
  const html = readFileSync(path.join(out, file), 'utf8').replaceAll('&amp;', '&');
  const all = (pattern) => [...html.matchAll(pattern)].map(([, value]) => value);
  const ids = all(/\sid="([^"]*)"/g);
  return {
    ids: new Set(ids),
    twice: new Set(ids.filter((id, n) => ids.indexOf(id) !== n)),
    links: new Set(all(/<a\s[^>]*?href="([^"]*)"/g)),
    loads: new Set([
      ...all(/<(?:img|script|source|iframe)\s[^>]*?src(?:set)?="([^"]*)"/g),
      ...all(/<link\s[^>]*?href="([^"]*)"/g),
    ]),
  };
}
