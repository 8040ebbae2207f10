import { runAgent } from '../agent/loop.ts';
import type { BodyEnd, Wait } from '../frame/invocation.ts';
import type { AnyRunnable } from '../frame/registry.ts';
import type { BodyFrame } from '../frame/run-context.ts';
import { runningBody } from '../frame/running-body.ts';
import { runLoop } from '../invoke/bodies/loop.ts';
import { runParallel } from '../invoke/bodies/parallel.ts';
import { runQuestion } from '../invoke/bodies/question.ts';
import { runSequence } from '../invoke/bodies/sequence.ts';
import { runSleep } from '../invoke/bodies/sleep.ts';
import { runStep } from '../invoke/bodies/step.ts';
import { runComposed } from '../invoke/composed-body.ts';

/** Runs the body of a runnable, by its kind. */
export function runBody(
  runnable: AnyRunnable | Wait,
  frame: BodyFrame,
): Promise<BodyEnd | undefined> {
  const body = { app: frame.run.session.app, path: frame.record.path, isOver: false };
  const ended = runningBody.run(body, () => bodyOf(runnable, frame));
  const leave = (): void => {
    body.isOver = true;
  };
  ended.then(leave, leave);
  return ended;
}

function bodyOf(runnable: AnyRunnable | Wait, frame: BodyFrame): Promise<BodyEnd | undefined> {
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
    case 'question':
      return runQuestion(runnable, frame);
    case 'sleep':
      return runSleep(frame);
    case 'plan':
    case 'graph':
    case 'router':
      return runComposed(runnable, frame);
  }
}
