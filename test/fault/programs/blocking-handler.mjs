// User code that blocks the event loop at /bad: forever, for some seconds, or by a regular expression.
const SECONDS = 4;

export function misbehave(act, url) {
  if (!url.endsWith('/bad')) return;
  if (act === 'loop') for (;;);
  if (act === 'regexp') /^(a+)+$/.test(`${'a'.repeat(60)}!`);
  const endMs = performance.now() + SECONDS * 1_000;
  while (performance.now() < endMs);
}

/** The handler of a pod: the act is in the environment. */
export default async function handle({ request, content, pushData }) {
  misbehave(process.env.BLOCKING_ACT, request.url);
  await pushData({ url: request.url, title: content.title });
}
