// The links and media of a page with what stands around them: enough to choose among them without the page.
// Promise: absolute safe addresses, each once; context is short; the number of entries is bounded.
import { limitReached, LIMITS } from '../../limits.js';
import { elementNumber } from '../page/elements.js';
import { imageSource } from '../page/media.js';
import { nodeText } from '../page/node-text.js';
import type { PageView } from '../page/page-view.js';
import { HEADING, FIRST_NODE, STRIDE } from '../page/segment.js';
import { parseUrl } from '../../request/url.js';

const A = elementNumber('a');
const IMG = elementNumber('img');
const VIDEO = elementNumber('video');
const AUDIO = elementNumber('audio');
const SOURCE = elementNumber('source');
const IFRAME = elementNumber('iframe');
const MAX_ENTRIES = LIMITS.inventoryEntries.max;
const MAX_TEXT = 300;

/** A link of a page. */
export interface InventoryLink {
  /** Absolute. */
  readonly url: string;
  /** What the link says. */
  readonly text: string;
  /** Its `title` attribute. */
  readonly title: string | null;
  /** Its `rel` attribute. */
  readonly rel: string | null;
  /** The heading that the link stands under. */
  readonly heading: string | null;
  /** True when the link is part of the main content. */
  readonly inContent: boolean;
}

/** An image, video or sound of a page. */
export interface InventoryMedia {
  /** Absolute. */
  readonly url: string;
  /** What it shows, in the words of the page. */
  readonly alt: string;
  /** The heading that it stands under. */
  readonly heading: string | null;
  /** In pixels, as the page states it. */
  readonly width: number | null;
  /** In pixels, as the page states it. */
  readonly height: number | null;
  /** True when it is part of the main content. */
  readonly inContent: boolean;
}

/** The links of a page, by whether they stay on its site. */
export interface LinkInventory {
  /** Links to the page's own host. */
  readonly internal: readonly InventoryLink[];
  /** Links to other hosts. */
  readonly external: readonly InventoryLink[];
}

/** The images, videos and sounds of a page. */
export interface MediaInventory {
  /** Images. */
  readonly images: readonly InventoryMedia[];
  /** Videos. */
  readonly videos: readonly InventoryMedia[];
  /** Sounds. */
  readonly audios: readonly InventoryMedia[];
}

/** Tells what stands around a node; asked in document order. */
class Surroundings {
  readonly #view: PageView;
  #block = 0;
  #heading = -1;

  constructor(view: PageView) {
    this.#view = view;
  }

  at(node: number): { heading: string | null; inContent: boolean } {
    const { blocks, count } = this.#view.segments;
    while (this.#block < count && blocks[this.#block * STRIDE + FIRST_NODE]! <= node) {
      if (blocks[this.#block * STRIDE + HEADING]! > 0) this.#heading = this.#block;
      this.#block++;
    }
    const { chosen } = this.#view.main;
    const inContent = chosen[Math.max(0, this.#block - 1)] === 1 || chosen[Math.min(count - 1, this.#block)] === 1;
    return { heading: this.#heading < 0 ? null : clip(this.#view.blockText(this.#heading)), inContent };
  }
}

export function readLinkInventory(view: PageView): LinkInventory {
  const { tree, urls } = view;
  const host = view.url === null ? null : (parseUrl(view.url)?.host ?? null);
  const seen = new Set<string>();
  const internal: InventoryLink[] = [];
  const external: InventoryLink[] = [];
  const around = new Surroundings(view);
  for (let node = 1; node < tree.count && seen.size < MAX_ENTRIES; node++) {
    if (tree.tag[node] !== A) continue;
    const url = urls.read(node, 'href');
    if (url === null || seen.has(url)) continue;
    seen.add(url);
    const link: InventoryLink = {
      url,
      text: clip(nodeText(tree, node)),
      title: tree.attribute(node, 'title'),
      rel: tree.attribute(node, 'rel'),
      ...around.at(node),
    };
    const linkHost = /^https?:/.test(url) ? (parseUrl(url)?.host ?? null) : host;
    if (linkHost === host) internal.push(link);
    else external.push(link);
  }
  if (seen.size >= MAX_ENTRIES) limitReached('inventoryEntries');
  return { internal, external };
}

export function readMediaInventory(view: PageView): MediaInventory {
  const { tree, urls } = view;
  const lists = {
    images: new Map<string, InventoryMedia>(),
    videos: new Map<string, InventoryMedia>(),
    audios: new Map<string, InventoryMedia>(),
  };
  const around = new Surroundings(view);
  let left = MAX_ENTRIES;
  for (let node = 1; node < tree.count && left > 0; node++) {
    const kind = listOf(view, node);
    if (kind === null) continue;
    const url = kind === 'images' ? imageSource(tree, node, urls) : urls.read(node, 'src');
    if (url === null || lists[kind].has(url)) continue;
    left--;
    const alt = clip((tree.attribute(node, 'alt') ?? tree.attribute(node, 'title') ?? '').replace(/\s+/g, ' ').trim());
    lists[kind].set(url, {
      url,
      alt,
      width: size(view, node, 'width'),
      height: size(view, node, 'height'),
      ...around.at(node),
    });
  }
  if (left === 0) limitReached('inventoryEntries');
  return { images: [...lists.images.values()], videos: [...lists.videos.values()], audios: [...lists.audios.values()] };
}

const PLAYER =
  /^https:\/\/(?:www\.)?(?:youtube(?:-nocookie)?\.com\/embed|player\.vimeo\.com|www\.dailymotion\.com\/embed)/;

function listOf({ tree, urls }: PageView, node: number): keyof MediaInventory | null {
  const kind = tree.tag[node];
  if (kind === IMG) return 'images';
  if (kind === VIDEO) return 'videos';
  if (kind === AUDIO) return 'audios';
  if (kind === SOURCE) {
    const parent = tree.tag[tree.parent[node]!];
    return parent === VIDEO ? 'videos' : parent === AUDIO ? 'audios' : null;
  }
  return kind === IFRAME && PLAYER.test(urls.read(node, 'src') ?? '') ? 'videos' : null;
}

function size({ tree }: PageView, node: number, attribute: string): number | null {
  const value = Number.parseInt(tree.attribute(node, attribute) ?? '', 10);
  return value >= 0 ? value : null;
}

function clip(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT - 1)}…` : text;
}
