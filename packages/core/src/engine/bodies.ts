import { runAgent } from './agent-body.ts';
import type { BodyEnd, BodyFrame } from './invoke.ts';
import { runLoop } from './loop-body.ts';
import { runParallel } from './parallel-body.ts';
import type { AnyRunnable } from './registry.ts';
import { runSequence } from './sequence-body.ts';
import { runStep } from './step-body.ts';

/** Runs what a runnable consists of, by its kind. */
export function runBody(runnable: AnyRunnable, frame: BodyFrame): Promise<BodyEnd | undefined> {
  switch (runnable.kind) {
    case 'agent':
      return runAgent(runnable, frame);
    case 'step':
      return runStep(runnable, frame);
    case 'sequence':
      return runSequence(runnable, frame);
    case 'parallel':
      return runParallel(runnable, frame);
    case 'loop':
      return runLoop(runnable, frame);
  }
}
