// The web of the suite, a process of its own: 40 good pages on 40 hosts, and one host per hostile kind.
// Prints its port. /good/N is a good page on every host; /KIND is hostile; ends when its input does.
import { createServer } from 'node:net';
import { BROWSERS } from './browsers.mjs';
import { HOSTS, prepare } from './hosts.mjs';
import { PAGES } from './pages.mjs';
import { answer } from './wire.mjs';

const MAX_HEAD = 64_000;

function goodPage(number) {
  const paragraph = `Good page ${number} tells of orcas that hunt together, in plain words and whole sentences. `;
  return `<!doctype html><html><head><title>good page ${number}</title></head><body><main><h1>Good ${number}</h1><p>${paragraph.repeat(4)}</p></main></body></html>`;
}

function respond(socket, path, host) {
  const kind = path.split(/[/?]/)[1];
  if (kind === 'robots.txt') {
    const robots = HOSTS[kindOfHost(host)]?.robots;
    return robots ? robots(socket) : answer(socket, 'nothing', { status: '404 Not Found' });
  }
  if (kind === 'good') return answer(socket, goodPage(Number(path.split(/[/?]/)[2])));
  if (HOSTS[kind]) return HOSTS[kind].answer(socket, path);
  if (BROWSERS[kind]) return answer(socket, BROWSERS[kind]);
  const page = PAGES[kind];
  if (typeof page === 'function') return answer(socket, page());
  if (page) return answer(socket, page.body(), { type: page.type });
  answer(socket, 'nothing here', { status: '404 Not Found' });
}

const NAMES = [...Object.keys(HOSTS), ...Object.keys(PAGES), ...Object.keys(BROWSERS)];
/** 127.0.2.1 and up, 200 kinds each third number. */
function kindOfHost(host) {
  const [, , group, number] = host.split(':')[0].split('.').map(Number);
  return NAMES[(group - 2) * 200 + number - 1];
}

const server = createServer((socket) => {
  let head = '';
  socket.on('error', () => undefined);
  socket.on('data', function read(bytes) {
    head += bytes.toString('latin1');
    if (head.length > MAX_HEAD) return void socket.destroy();
    if (!head.includes('\r\n\r\n')) return;
    socket.off('data', read);
    socket.resume();
    const path = head.split(' ')[1] ?? '/';
    respond(socket, path, /^host: *(\S+)/im.exec(head)?.[1] ?? '');
  });
});

prepare();
server.listen(0, '0.0.0.0', () => process.stdout.write(`${server.address().port}\n`));
process.stdin.resume();
process.stdin.once('end', () => process.exit());
