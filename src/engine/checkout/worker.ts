/**
 * Entry point of a worker thread. It starts while the manifest is still being made, and then gets a job and its passes.
 */
import { parentPort } from 'node:worker_threads';
import { bug } from '../errors.ts';
import { loadTables } from '../filter/encode.ts';
import { cleanShare } from './clean-share.ts';
import { CostMeter } from './cost-meter.ts';
import { EntryWriter } from './entry-writer.ts';
import type { FromWorker, Job, ToWorker } from './messages.ts';
import { WorktreePaths } from '../worktree/paths.ts';
import { removeFiles } from './removals.ts';
import { runStream } from './stream/take-batch.ts';
import { runPass } from './worker-loop.ts';

const port = parentPort;
if (port === null) throw new Error('this file runs as a worker thread of parallel-checkout only');

function send(message: FromWorker): void {
  port?.postMessage(message);
}

let running: {
  readonly id: number;
  readonly job: Job;
  readonly writer: EntryWriter;
  readonly meter: CostMeter;
  readonly ready: Promise<void>;
} | null = null;

port.on('message', (message: ToWorker) => {
  switch (message.type) {
    case 'begin': {
      const { id, job } = message;
      // A thread may get a second job, after what it wrote while the pack came.
      const before = running;
      before?.writer.close();
      const meter = before?.meter ?? new CostMeter(id);
      const writer = new EntryWriter(
        job,
        id,
        (entry, error) => {
          send({ type: 'failed', entry, error });
        },
        () => {
          meter.sample();
        },
        (entry) => {
          send({ type: 'unencoded', entry });
        },
      );
      writer.waitMs = before?.writer.waitMs ?? 0;
      running = { id, job, writer, meter, ready: loadTables(job.conversions) };
      return;
    }
    case 'remove':
      if (running === null) throw bug('removals before their job');
      removeFiles(running.job.control, message.removals, new WorktreePaths(running.job.workTree));
      send({ type: 'passed' });
      return;
    case 'pass': {
      if (running === null) throw bug('a pass before its job');
      const { job, writer, meter, ready } = running;
      void ready.then(() => {
        runPass(job, message.pass, writer, meter);
        send({ type: 'passed' });
      });
      return;
    }
    case 'stream':
      if (running === null) throw bug('a stream before its job');
      runStream(message.share, running.job, running.id, running.writer, running.meter);
      send({ type: 'passed' });
      return;
    case 'clean':
      send({ type: 'cleaned', outcome: cleanShare(message.share) });
      return;
    case 'end':
      if (running !== null) {
        running.writer.close();
        send({ type: 'ended', cost: running.meter.cost(running.writer) });
      }
      port.close();
  }
});
