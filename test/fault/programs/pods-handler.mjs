// The handler of the fault tests' crawls on pods. What a page does to its worker is said in the environment:
// FAULT_PAGES lists URLs, FAULT_ACT what they do.
const faulty = new Set((process.env.FAULT_PAGES ?? '').split(' ').filter(Boolean));

export default async function handle({ request, content, pushData, enqueueLinks }) {
  if (faulty.has(request.url)) misbehave(process.env.FAULT_ACT);
  await pushData({ url: request.url, title: content.title });
  await enqueueLinks({ strategy: 'all' });
}

function misbehave(act) {
  if (act === 'exit') process.exit(7);
  if (act === 'loop') for (;;);
  const hoard = [];
  for (;;) hoard.push(Array.from({ length: 1e5 }, (_, n) => ({ n })));
}
