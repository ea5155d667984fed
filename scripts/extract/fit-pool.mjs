// A few threads that fit models side by side. The result depends on the jobs and their seeds, not on the threads.
import { Worker } from 'node:worker_threads';

export function createFitPool(size) {
  const waiting = [];
  const answers = new Map();
  let next = 0;
  const free = Array.from({ length: size }, () => {
    const worker = new Worker(new URL('fit-worker.mjs', import.meta.url));
    worker.on('message', ({ id, model }) => {
      answers.get(id).resolve(model);
      answers.delete(id);
      free.push(worker);
      pump();
    });
    worker.on('error', (error) => answers.forEach(({ reject }) => reject(error)));
    return worker;
  });
  const all = [...free];
  function pump() {
    while (free.length > 0 && waiting.length > 0) free.pop().postMessage(waiting.shift());
  }
  return {
    fit(job) {
      const id = next++;
      waiting.push({ id, job });
      const answer = new Promise((resolve, reject) => answers.set(id, { resolve, reject }));
      pump();
      return answer;
    },
    close: () => Promise.all(all.map((worker) => worker.terminate())),
  };
}
