// Fits models in a thread of its own; the tables arrive as shared memory, so a job costs no copying.
import { parentPort } from 'node:worker_threads';
import { fit } from './boost.mjs';

parentPort.on('message', ({ id, job }) => parentPort.postMessage({ id, model: fit(job) }));
