// One of the processes of a polite crawl over a shared queue. Arguments as JSON: folder, seeds, delaySecs, seconds.
// Prints its counts and CPU time when its time is over.
import { Configuration, HttpCrawler, Log, LogLevel } from '../../dist/index.js';

const { folder, seeds, delaySecs, seconds, concurrency } = JSON.parse(process.argv[2]);
const config = new Configuration({ storageClientOptions: { localDataDirectory: folder }, purgeOnStart: false });
const crawler = new HttpCrawler(
  {
    log: new Log({ level: LogLevel.ERROR }),
    minConcurrency: concurrency,
    maxConcurrency: concurrency,
    allowPrivateAddresses: true,
    respectRobotsTxtFile: true,
    sameDomainDelaySecs: delaySecs,
    experiments: { requestLocking: true },
    async requestHandler({ enqueueLinks }) {
      await enqueueLinks();
    },
  },
  config,
);
// Loading is not what is measured.
const begun = process.cpuUsage();
const timer = setTimeout(() => crawler.stop(), seconds * 1000);
const { requestsFinished, requestsFailed } = await crawler.run(seeds);
clearTimeout(timer);
await crawler.teardown();
const { user, system } = process.cpuUsage(begun);
console.log(JSON.stringify({ requestsFinished, requestsFailed, cpuSecs: (user + system) / 1e6 }));
