// Logs in through a form once and stays logged in: the profile on disk keeps the cookie for the next run.
// Run twice: node --import jiti/register examples/browser-login.ts https://example.com ann secret
import { writeFile } from 'node:fs/promises';
import { WebCrawler } from 'orcrawl';

const [site = 'https://example.com', user = 'ann', password = 'secret'] = process.argv.slice(2);
const crawler = await WebCrawler.open({ browser: { userDataDir: './profile', viewport: { width: 800, height: 300 } } });
try {
  const before = await crawler.run(`${site}/account`);
  if (before.text.includes('Please log in')) {
    await crawler.run(`${site}/login`, {
      sessionId: 'login',
      jsCode: `
        document.querySelector('[name=user]').value = ${JSON.stringify(user)};
        document.querySelector('[name=password]').value = ${JSON.stringify(password)};
        document.querySelector('form').submit();
        await new Promise(() => {}); // until the form has led elsewhere`,
      waitFor: 'css:#welcome',
    });
    console.log('logged in');
  } else console.log('still logged in');
  const account = await crawler.run(`${site}/account`, { screenshot: true });
  console.log(account.text.trim().split('\n').at(-1));
  await writeFile('account.png', account.screenshot!);
} finally {
  await crawler.close();
}
