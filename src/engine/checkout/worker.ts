/**
 * Entry point of a worker thread. It starts while the manifest is still being made, and then gets one run.
 */
import { parentPort } from 'node:worker_threads';
import type { FromWorker, ToWorker } from './messages.ts';
import { runWorkerLoop } from './worker-loop.ts';

const port = parentPort;
if (port === null) throw new Error('this file runs as a worker thread of parallel-checkout only');

port.once('message', (message: ToWorker) => {
  if (message.type === 'run') {
    const send = (reply: FromWorker): void => {
      port.postMessage(reply);
    };
    const cost = runWorkerLoop(message.id, message.input, (entry, error) => {
      send({ type: 'failed', entry, error });
    });
    send({ type: 'done', cost });
  }
  port.close();
});
