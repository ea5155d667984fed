// Runs the scenarios whose name fits, and prints what differs: node --import jiti/register bench/crawlee-parity/try.ts [REGEXP]
import { compareAll, installCrawlee, listScenarios } from './run.js';

const crawlee = process.env['CRAWLEE'] ?? installCrawlee();
const scenarios = await listScenarios(new RegExp(process.argv[2] ?? ''));
const results = await compareAll(scenarios, crawlee, ({ isSame, purpose, name, theirs, ours }) => {
  if (!isSame) console.log(`${purpose ? 'ON PURPOSE' : 'DIFFERS'} ${name}\n  theirs ${theirs}\n  ours   ${ours}`);
});
console.log(`${results.filter(({ isSame }) => isSame).length} of ${results.length} the same`);
