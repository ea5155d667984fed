// The sites that the browser examples are run against.
import { COMMITS } from './browser-pages.js';
import { serveSite, type Site } from './browser.js';

const ENDLESS = `<!doctype html><title>endless</title><ul id="list"></ul><script>
  let shown = 0;
  const more = () => { for (let i = 0; i < 10 && shown < 40; i++) list.insertAdjacentHTML('beforeend', '<li style="height:150px">item ' + ++shown + '</li>'); };
  more();
  addEventListener('scroll', () => { if (innerHeight + scrollY >= document.body.scrollHeight - 5) setTimeout(more, 20); });
</script>`;
const FORM =
  '<title>log in</title><form method="post" action="/login"><input name="user"><input name="password"></form>';

export function serveExamples(): Promise<Site> {
  return serveSite({
    '/list': COMMITS,
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
          .end(isRight ? '<p id="welcome">Welcome' : 'No');
      });
    },
    '/account': (request, response) => {
      const text = request.headers.cookie?.includes('login=ann') ? 'Account of ann' : 'Please log in';
      response.writeHead(200, { 'content-type': 'text/html' }).end(`<title>account</title><p>${text}</p>`);
    },
  });
}
