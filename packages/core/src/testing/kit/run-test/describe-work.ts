import type { PendingRequest } from '../../../session/pending-request.ts';
import { inShort } from './describe-step.ts';
import type { OpenWork } from './open-work.ts';
import type { Scene } from './scene.ts';
import { outcomeText } from './test-process.ts';

const longestMessage = 300;

/** Describes the request of a call that waits. */
export function requestText(
  { kind, name, args, request, expiresAt }: PendingRequest,
  now: number,
): string {
  const expiry = expiresAt === undefined ? '' : ` (it expires in ${expiresAt - now} ms)`;
  switch (kind) {
    case 'approval':
      return `"${request.agent}" waits for approval of ${name}(${inShort(args)})${expiry}`;
    case 'input':
      return `"${request.agent}" waits for input for ${name}(${inShort(args)})${expiry}`;
    case 'result':
      return `"${request.agent}" waits for the result of ${name}(${inShort(args)})${expiry}`;
    default:
      return (
        `"${request.agent}" waits for an answer about ${name} (${kind}: ` +
        `${request.options.join(', ')})${expiry}`
      );
  }
}

function workText(work: OpenWork, scene: Scene): string {
  const { clock, process } = scene;
  const { models, tools } = process;
  switch (work.kind) {
    case 'model': {
      const call = models.waiting.find(({ invocationId }) => invocationId === work.path);
      const at = models.answersAt(work.path);
      if (call !== undefined)
        return (
          `"${work.agent}" asks its model, with this last message: ` +
          `${inShort(call.prompt.at(-1), longestMessage)}`
        );
      if (at !== undefined)
        return (
          `the model of "${work.agent}" answers in ${at - clock.now()} ms of the test's ` +
          `clock: advanceTime(${at - clock.now()})`
        );
      return `the model call of "${work.agent}" is under way`;
    }
    case 'retry':
      return (
        `${work.path} tries ${work.what} again in ${work.at - clock.now()} ms of the test's ` +
        `clock: advanceTime(${work.at - clock.now()})`
      );
    case 'request': {
      const pending = scene.pending.find(({ requestId }) => requestId === work.requestId);
      return pending === undefined
        ? 'an answer is being taken in'
        : requestText(pending, clock.now());
    }
    case 'tool': {
      const isHeld = tools.held.some(({ callId }) => callId === work.callId);
      return isHeld
        ? `the tool ${work.name} (${work.callId}) is held for a later step`
        : `the tool ${work.name} (${work.callId}) is running, and nothing comes of it`;
    }
    case 'sleep':
      return (
        `the sleep "${work.name}" (${work.path}) ends in ${work.until - clock.now()} ms of the ` +
        `test's clock: advanceTime(${work.until - clock.now()})`
      );
    case 'step':
      return `the step "${work.name}" (${work.path}) is running, and nothing comes of it`;
    case 'between':
      return `${work.what} (${work.path}) is under way, and nothing comes of it`;
  }
}

/** Describes the work of a run, in lines. */
export function doingText(work: readonly OpenWork[], scene: Scene): string {
  const { process } = scene;
  if (work.length > 0) return work.map((part) => `- ${workText(part, scene)}`).join('\n');
  if (process.isActive) return '- the run has begun, and nothing comes of it';
  if (process.outcome !== undefined) {
    const waiting = scene.pending.map((pending) => `- ${requestText(pending, scene.clock.now())}`);
    return [`- ${outcomeText(process.outcome)}`, ...waiting].join('\n');
  }
  return scene.hasBegun ? '- No run is under way in the new process.' : '- No run has begun.';
}
