import { runAgent } from '../agent/loop.ts';
import type { BodyEnd } from '../frame/invocation.ts';
import type { AnyRunnable } from '../frame/registry.ts';
import type { BodyFrame } from '../frame/run-context.ts';
import { runLoop } from '../invoke/bodies/loop.ts';
import { runParallel } from '../invoke/bodies/parallel.ts';
import { runSequence } from '../invoke/bodies/sequence.ts';
import { runStep } from '../invoke/bodies/step.ts';

/** Runs the body of a runnable, by its kind. */
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
