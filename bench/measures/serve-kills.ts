// kill -9 of servers: twenty of one during ten jobs, and twenty of three servers on one Redis, killed in turn.
import { killServers } from '../../test/support/serve-kills.js';
import type { Figure } from '../measure.js';

const KILLS = Number(process.env.SERVE_KILLS ?? 20);

export async function measure(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const servers of [1, 3]) {
    const who = servers === 1 ? 'one server' : 'three servers on one Redis';
    const kills = KILLS;
    const report = await killServers({ servers, kills, hosts: 5, pagesPerHost: 200 });
    for (const problem of report.problems) console.log(`  ${who}: ${problem}`);
    figures.push(
      {
        what: `${who}: kills, jobs, pages`,
        measured: `${report.kills}, ${report.jobs}, ${report.pages}`,
        goal: `${kills}, 10`,
      },
      {
        what: `${who}: pages or events lost, twice or out of order`,
        measured: String(report.problems.length),
        goal: '0',
      },
      {
        what: `${who}: webhook events, delivered again`,
        measured: `${report.events}, ${report.repeatedEvents}`,
        goal: `each at least once, at most one again a kill and job`,
      },
    );
  }
  return figures;
}
