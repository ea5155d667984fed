// Loaded into a worker by NODE_OPTIONS=--import, since --cpu-prof itself is not allowed there: profiles the process from
// SIGUSR2 to the next one, into BENCH_PROFILE_FOLDER.
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { join } from 'node:path';

let session;

process.on('SIGUSR2', () => {
  if (!session) {
    session = new Session();
    session.connect();
    session.post('Profiler.enable');
    session.post('Profiler.setSamplingInterval', { interval: 500 });
    session.post('Profiler.start');
    return;
  }
  const ended = session;
  session = undefined;
  ended.post('Profiler.stop', (error, answer) => {
    if (error) throw error;
    const name = `${process.title.replaceAll(' ', '-')}.cpuprofile`;
    writeFileSync(join(process.env.BENCH_PROFILE_FOLDER, name), JSON.stringify(answer.profile));
    ended.disconnect();
  });
});
