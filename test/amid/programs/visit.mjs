// What the suite's handlers do with every page: everything a handler can, so that nothing hostile stays unread.
// At /unserialisable they store what cannot be stored: only that page may suffer.

export async function visit({ request, content, $, pushData, enqueueLinks }) {
  if (request.url.includes('/unserialisable')) await pushData({ url: request.url, circle: circle(), big: 1n });
  const item = { url: request.url, title: content.title.slice(0, 1_000), characters: content.text.length };
  if ($) item.elements = $('*').length;
  const markdown = content.markdown?.raw ?? '';
  await pushData({ ...item, markdown: markdown.length, says: content.text.slice(0, 200) });
  await enqueueLinks({ strategy: 'same-hostname', limit: 20 });
}

export function circle() {
  const one = {};
  one.self = one;
  return one;
}
