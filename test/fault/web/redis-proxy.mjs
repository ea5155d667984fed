// A TCP proxy before a Redis server that plays the network's tricks: silence one way or both, late answers, lost answers,
// calls delivered twice, answers delivered twice. Node builtins only. Argument: { target }; talks over IPC.
import { connect, createServer } from 'node:net';
import { createSplitter } from './resp.mjs';

const { target } = JSON.parse(process.argv[2]);
/** What happens to connections. `mode` counts for those that are open now; new ones start with `newMode`. */
let state = { newMode: 'pass', ms: 0, left: 0 };
const links = new Set();

const server = createServer((client) => {
  const upstream = connect(target, '127.0.0.1');
  const link = { mode: state.newMode, client, upstream, held: [] };
  links.add(link);
  for (const socket of [client, upstream]) {
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      links.delete(link);
      client.destroy();
      upstream.destroy();
    });
  }
  const commands = createSplitter();
  const replies = createSplitter();
  client.on('data', (bytes) => {
    if (link.mode === 'silent-up' || link.mode === 'silent') return void link.held.push([upstream, bytes]);
    for (const command of commands(bytes)) up(link, command);
  });
  upstream.on('data', (bytes) => {
    if (link.mode === 'silent-down' || link.mode === 'silent') return void link.held.push([client, bytes]);
    for (const reply of replies(bytes)) down(link, reply);
  });
});

function up(link, command) {
  link.upstream.write(command);
  if (link.mode === 'call-twice' && isScript(command) && take()) repeat(command);
}

/** The same call once more over another connection, as a network that delivers twice. */
function repeat(command) {
  const second = connect(target, '127.0.0.1', () => second.write(command));
  second.on('error', () => undefined);
  second.once('data', () => second.destroy());
}

function down(link, reply) {
  if (link.mode === 'late') return void setTimeout(() => link.client.write(reply), state.ms);
  if (link.mode === 'reply-lost' && take()) return link.client.resetAndDestroy();
  link.client.write(reply);
  if (link.mode === 'reply-twice' && take()) link.client.write(reply);
}

const isScript = (command) => /EVALSHA|FCALL/i.test(command.toString('latin1', 0, 40));

/** Some of them only, spread out. */
function take() {
  if (state.left <= 0 || Math.random() < 0.7) return false;
  state.left--;
  return true;
}

const CALLS = {
  /** `{ mode, newMode, ms, times }` */
  play({ mode, newMode = mode, ms = 0, times = 0 }) {
    state = { newMode, ms, left: times };
    for (const link of links) {
      link.mode = mode;
      if (mode.startsWith('silent')) continue;
      for (const [socket, bytes] of link.held.splice(0)) socket.write(bytes);
    }
  },
  left: () => state.left,
  cut() {
    for (const { client } of links) client.resetAndDestroy();
  },
};

process.on('message', ({ id, call, ...rest }) => {
  process.send({ id, value: CALLS[call](rest) });
});
process.on('disconnect', () => process.exit(0));
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
