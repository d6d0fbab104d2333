#!/usr/bin/env node
/**
 * The command line program `parallel-checkout`: connects the process, the commands and the engine.
 */
import * as engine from '../engine/engine.ts';
import { listenForSignals, processIo } from './process-io.ts';
import { run } from './run.ts';

const interruption = listenForSignals();
const status = await run(process.argv.slice(2), processIo(interruption.signal), engine);
// Not process.exit(): what is still on its way to a pipe gets there.
process.exitCode = interruption.exitStatus() ?? status;
