// The link graph of the fault tests: which pages there are, where they link to, and how they are named.
// Node builtins only, and nothing from src/: the server serves it and the checker judges by it.

/**
 * A plan is `{ shape: 'tree', hosts, pages }` (pages per host) or `{ shape: 'waves', pages, largest, seed }` (one host).
 * Pages are numbered per host; page 0 is `/`.
 */
export function linksOf(plan, host, page) {
  return plan.shape === 'waves' ? waveLinks(plan, page) : treeLinks(plan, host, page);
}

function treeLinks({ hosts, pages }, host, page) {
  const links = [];
  for (const child of [2 * page + 1, 2 * page + 2]) if (child < pages) links.push([host, child]);
  links.push([(host * 7 + page * 3 + 1) % hosts, (page * 5 + host) % pages]);
  links.push([host, (page * 11) % pages]);
  return links;
}

/** Uneven waves: one page of each wave lists all pages of the next one, and a few of the wave before. */
function waveLinks(plan, page) {
  const waves = wavesOf(plan);
  const index = waves.findIndex(({ hub }) => hub === page);
  if (index < 0) return page % 5 === 0 ? [[0, page >> 1]] : [];
  const next = waves[index + 1];
  if (!next) return [];
  const links = [];
  for (let n = next.from; n < next.to; n++) {
    links.push([0, n]);
    if (n % 97 === 0) links.push([0, Math.floor(n / 3)]);
  }
  return links;
}

const knownWaves = new Map();

export function wavesOf({ pages, largest, seed }) {
  const key = `${pages} ${largest} ${seed}`;
  const known = knownWaves.get(key);
  if (known) return known;
  const random = createRandom(seed);
  const waves = [{ from: 0, to: 1, hub: 0 }];
  for (let from = 1; from < pages;) {
    // The first waves are those of review D1; later ones are of any size, single pages too.
    const drawn = waves.length === 1 ? largest : waves.length === 2 ? largest - 100 : random() ** 2 * largest;
    const to = Math.min(pages, from + Math.max(1, Math.floor(drawn)));
    // Every other wave comes when the one before it is nearly done: its queue has shrunk to nothing and grows again.
    const hub = waves.length % 2 === 1 ? to - 1 : from + Math.floor(random() * (to - from));
    waves.push({ from, to, hub });
    from = to;
  }
  knownWaves.set(key, waves);
  return waves;
}

export const pathOf = (page) => (page === 0 ? '/' : `/p/${page}`);

/** The page at a path; -1 if there is none. */
export function pageAt(plan, path) {
  if (path === '/') return 0;
  const page = /^\/p\/[1-9]\d{0,8}$/.test(path) ? Number(path.slice(3)) : -1;
  return page < plan.pages ? page : -1;
}

export const hostsOf = (plan) => (plan.shape === 'waves' ? 1 : plan.hosts);

/** `net` of a plan: the first two numbers of its hosts' addresses, where they are not on this machine. */
export const addressOf = ({ net = '127.77' }, host) => `${net}.${host >> 7}.${(host & 127) + 1}`;

export const urlOf = (plan, port, host, page) => `http://${addressOf(plan, host)}:${port}${pathOf(page)}`;

export const titleOf = (host, page) => `Page ${page} of host ${host}`;

/** Every page that can be reached from the roots of all hosts, as `[host, page]`. */
export function reachable(plan) {
  const seen = new Set();
  const waiting = [];
  const meet = (host, page) => {
    const id = host * 1e9 + page;
    if (!seen.has(id)) waiting.push([host, page]);
    seen.add(id);
  };
  for (let host = 0; host < hostsOf(plan); host++) meet(host, 0);
  const found = [];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    found.push(next);
    for (const [host, page] of linksOf(plan, ...next)) meet(host, page);
  }
  return found;
}

export function createRandom(seed) {
  let state = (seed * 2_654_435_761 + 1) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
