// What every contestant shares: its order, from the environment, and its report, the last line it prints.
// CPU time is that of all threads of the process, from after its modules are loaded to after the crawl is closed.
export const order = JSON.parse(process.env.BENCH_ORDER);

/** Runs the crawl, which resolves to the number of pages it handled, and reports what it cost. */
export async function reportCost(crawl) {
  const startedAtMs = performance.now();
  const before = process.cpuUsage();
  const pages = await crawl();
  const { user, system } = process.cpuUsage(before);
  const report = {
    pages,
    cpuMs: (user + system) / 1000,
    wallMs: performance.now() - startedAtMs,
    rssMb: process.resourceUsage().maxRSS / 1024,
  };
  console.log(`\n${JSON.stringify(report)}`);
}
