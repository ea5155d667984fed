// User code that blocks the event loop at /bad: forever, for some seconds, or by a regular expression. Where one case has
// computed, the others stand still: the loop is blocked all the same, and no other test is slowed down.
const SECONDS = 4;

export function misbehave(act, url) {
  if (!url.endsWith('/bad')) return;
  if (act === 'loop') for (;;);
  if (act === 'regexp') /^(a+)+$/.test(`${'a'.repeat(60)}!`);
  const standStill = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  standStill(act === 'stand still' ? undefined : SECONDS * 1_000);
}

/** The handler of a pod: the act is in the environment. */
export default async function handle({ request, content, pushData }) {
  misbehave(process.env.BLOCKING_ACT, request.url);
  await pushData({ url: request.url, title: content.title });
}
