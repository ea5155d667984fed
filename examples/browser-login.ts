// Logs in through a form once and stays logged in: the profile on disk keeps the cookie for the next run.
// Run: npx orcrawl simweb --port 8080, and in another terminal, twice: node --import jiti/register examples/browser-login.ts
import { writeFile } from 'node:fs/promises';
import { WebCrawler } from 'orcrawl';

const [site = 'http://127.0.0.1:8080', user = 'ann'] = process.argv.slice(2);
const crawler = await WebCrawler.open({ browser: { userDataDir: './profile', viewport: { width: 800, height: 300 } } });
try {
  const before = await crawler.run(`${site}/_/members`);
  if (before.statusCode === 401) {
    await crawler.run(`${site}/_/login`, {
      sessionId: 'login',
      jsCode: `
        document.querySelector('[name=user]').value = ${JSON.stringify(user)};
        document.querySelector('form').submit();
        await new Promise(() => {}); // until the form has led elsewhere`,
      waitFor: "js:() => document.querySelector('h1')?.textContent.includes('Hello')",
    });
    console.log('logged in');
  } else if (before.success) console.log('still logged in');
  const members = await crawler.run(`${site}/_/members`, { screenshot: true });
  if (!members.success) throw new Error(`${members.url}: ${members.errorMessage} (${members.errorCode})`);
  console.log(members.metadata?.title);
  await writeFile('members.png', members.screenshot!);
} finally {
  await crawler.close();
}
