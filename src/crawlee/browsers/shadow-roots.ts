// Crawlee's expandShadowRoots: runs in a page, so it uses nothing from outside of itself.

/* eslint-disable @typescript-eslint/no-explicit-any -- the DOM of the page, whose types are not ours */
/**
 * The HTML of a document with what is in its shadow roots in place. It is for `page.evaluate`, and changes the document.
 *
 * @example
 * const html = await page.evaluate(`(${String(expandShadowRoots)})(document)`);
 */
export function expandShadowRoots(document: any): string {
  const expand = (root: any): void => {
    for (const element of root.querySelectorAll('*')) {
      const { shadowRoot } = element;
      if (!shadowRoot) continue;
      expand(shadowRoot);
      element.innerHTML += shadowRoot.innerHTML;
    }
  };
  expand(document.body);
  return document.documentElement.outerHTML as string;
}
