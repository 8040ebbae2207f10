import type { TaskInfo } from 'adjutant/scheduler';
import type { ServerParts } from '../../http/parts.ts';
import { isTaskInReach, taskAnswer } from '../../http/reachable-task.ts';
import type { SentFrame } from '../frame.ts';
import type { Encoding, Piece } from '../replay/telling.ts';
import { type StreamRequest, sentEvents } from '../stream-response.ts';

/** Says that all tasks that have not ended were told. */
const listed: SentFrame = { event: 'listed', data: {} };

/**
 * Answers with a stream of the tasks of the caller's tenant: first those that have not ended, then
 * the frame `listed`, then each task that changes.
 * @throws RequestRefusedError `too_many_streams` (429)
 */
export function taskStreamResponse(parts: ServerParts, input: StreamRequest): Response {
  return sentEvents(parts, input, (encoding, signal) => changes(parts, input, encoding, signal));
}

/** Gives a reader the newest state of each task that has changed since it last took some. */
async function* changes<Written>(
  { taskWatches }: ServerParts,
  { app, principal }: Pick<StreamRequest, 'app' | 'principal'>,
  encoding: Encoding<Written>,
  signal: AbortSignal,
): AsyncGenerator<Piece<Written>, void, undefined> {
  const changed = new Map<string, TaskInfo>();
  let wake = (): void => undefined;
  signal.addEventListener('abort', () => wake(), { once: true });
  const piece = (frames: readonly SentFrame[]): Piece<Written> => ({
    written: encoding.write(frames),
    frames: frames.length,
  });
  const framesOf = (tasks: Iterable<TaskInfo>): readonly SentFrame[] =>
    [...tasks]
      .filter((task) => isTaskInReach({ principal }, task))
      .map((task) => ({ event: 'task', data: taskAnswer(task) }));
  const { open, end } = await taskWatches.listen(app, (tasks) => {
    for (const task of tasks) changed.set(task.id, task);
    wake();
  });
  try {
    yield piece([...framesOf(open), listed]);
    while (!signal.aborted) {
      const frames = framesOf(changed.values());
      changed.clear();
      if (frames.length > 0) yield piece(frames);
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (signal.aborted || changed.size > 0) resolve();
        });
    }
  } finally {
    end();
  }
}
