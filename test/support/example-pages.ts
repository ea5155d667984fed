// The sites that the browser examples are run against, and that the pictures of docs/browser.md show.
import { COMMITS } from './browser-pages.js';
import { serveSite, type Site } from './site.js';

const STYLE = `<style>
  body { margin: 0; background: #eef2f5; font: 17px/1.5 system-ui, sans-serif; color: #1d2b36 }
  h1 { margin: 0; padding: 18px 32px; background: #14425e; color: #fff; font-size: 21px }
  #list { margin: 24px 32px; padding: 0; list-style: none }
  .commit { margin-bottom: 8px; padding: 12px 18px; background: #fff; border-left: 5px solid #2f8f83; border-radius: 4px }
  button { margin-left: 32px; padding: 9px 22px; border: 0; border-radius: 4px; background: #2f8f83; color: #fff; font: inherit }
  .grid { display: grid; grid-template-columns: repeat(8, 1fr); gap: 14px }
  .grid li { height: 110px; display: flex; align-items: end; padding: 10px 14px; border-radius: 6px; color: #fff; background: #14425e }
  .grid li:nth-child(3n) { background: #2f8f83 } .grid li:nth-child(5n) { background: #b5543c } .grid li:nth-child(7n) { background: #8a6d1f }
  form, .card { width: 340px; margin: 40px auto; padding: 28px; border-radius: 8px; background: #fff; box-shadow: 0 2px 8px #0002 }
  input { display: block; width: 100%; box-sizing: border-box; margin-bottom: 12px; padding: 8px; font: inherit }
</style>`;

const styled = (title: string, body: string) =>
  `<!doctype html><title>${title}</title>${STYLE}<h1>${title}</h1>${body}`;

/** Ten more items whenever the end comes into sight, forty in all. */
const ENDLESS = styled(
  'endless',
  `<ul id="list" class="grid"></ul><div id="end" style="height:600px"></div><script>
  let shown = 0;
  const more = () => { for (let i = 0; i < 8 && shown < 40; i++) list.insertAdjacentHTML('beforeend', '<li>item ' + ++shown + '</li>'); if (shown === 40) end.remove(); };
  more();
  addEventListener('scroll', () => { if (innerHeight + scrollY >= document.body.scrollHeight - 5) setTimeout(more, 20); });
</script>`,
);
const FORM = styled(
  'log in',
  '<form method="post" action="/login"><input name="user" placeholder="user"><input name="password" type="password" placeholder="password"><button>Log in</button></form>',
);

export function serveExamples(): Promise<Site> {
  return serveSite({
    '/list': COMMITS.replace('<ol', `${STYLE}<h1>commits</h1><ol`),
    '/endless': ENDLESS,
    '/login': (request, response) => {
      if (request.method !== 'POST') return response.writeHead(200, { 'content-type': 'text/html' }).end(FORM);
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      return request.on('end', () => {
        const isRight = body === 'user=ann&password=secret';
        const cookie = isRight ? { 'set-cookie': 'login=ann; Max-Age=86400; Path=/' } : {};
        response
          .writeHead(200, { 'content-type': 'text/html', ...cookie })
          .end(styled('log in', isRight ? '<p class="card" id="welcome">Welcome</p>' : '<p class="card">No</p>'));
      });
    },
    '/account': (request, response) => {
      const text = request.headers.cookie?.includes('login=ann') ? 'Account of ann' : 'Please log in';
      response.writeHead(200, { 'content-type': 'text/html' }).end(styled('account', `<p class="card">${text}</p>`));
    },
  });
}
