// How large a page has become in its browser, asked before anything of it is taken out.
// Promise: asked in a world of its own, where a page's scripts cannot lie; counting ends at the limit.
import { CrawlError } from '../../errors.js';
import { limitReached } from '../../limits.js';
import type { PooledPage } from './page-lease.js';

/** Playwright's messages about a page that is being replaced. */
const NAVIGATED = /context was destroyed|navigated|Cannot find context|Execution context|No frame/i;

/** Throws BODY_TOO_LARGE when the page, written as HTML, would have more than `maxBytes` characters. */
export async function checkDomSize(lent: PooledPage, maxBytes: number): Promise<void> {
  if (maxBytes === Infinity) return;
  const size = await domSize(lent, maxBytes).catch((error: unknown) => {
    if (error instanceof Error && NAVIGATED.test(error.message)) return 0;
    throw error;
  });
  if (size > maxBytes) throw domTooLarge(lent, maxBytes);
}

export function domTooLarge(lent: PooledPage, maxBytes: number): CrawlError {
  limitReached('bodyBytes');
  return new CrawlError('BODY_TOO_LARGE', `${lent.page.url()}: the page is larger than ${maxBytes} bytes`);
}

async function domSize(lent: PooledPage, max: number): Promise<number> {
  const session = await lent.cdp();
  const { frameTree } = await session.send('Page.getFrameTree');
  const { executionContextId } = await session.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id });
  const { result } = await session.send('Runtime.evaluate', {
    expression: `(${COUNT})(${max})`,
    contextId: executionContextId,
    returnByValue: true,
  });
  return Number(result.value ?? 0);
}

/** Runs in the browser. */
const COUNT = `(max) => {
  let size = 0;
  const roots = [document];
  for (let root = roots.pop(); root; root = roots.pop()) {
    const walker = document.createTreeWalker(root);
    for (let node = walker.nextNode(); node && size <= max; node = walker.nextNode()) {
      if (node.nodeType !== 1) {
        size += node.length ?? 0;
        continue;
      }
      size += 2 * node.localName.length + 5;
      for (const { name, value } of node.attributes) size += name.length + value.length + 4;
      if (node.localName === 'template' && node.content) roots.push(node.content);
    }
  }
  return size;
}`;
