import type { TaskInfo } from 'adjutant/scheduler';
import type { ServerParts } from '../../http/parts.ts';
import { isTaskInReach, taskAnswer } from '../../http/reachable-task.ts';
import type { SentFrame } from '../frame.ts';
import { type StreamRequest, sentEvents } from '../stream-response.ts';
import { toldChanges } from '../watches/told-changes.ts';
import { openTasks } from './task-look.ts';

/** Says that all tasks that have not ended were told. */
const listed: SentFrame = { event: 'listed', data: {} };

/**
 * Answers with a stream of the tasks of the caller's tenant: first those that have not ended, then
 * the frame `listed`, then each task that changes.
 * @throws RequestRefusedError `too_many_streams` (429)
 */
export function taskStreamResponse(parts: ServerParts, input: StreamRequest): Response {
  const { app, principal } = input;
  const framesOf = (tasks: Iterable<TaskInfo>): readonly SentFrame[] =>
    [...tasks]
      .filter((task) => isTaskInReach({ principal }, task))
      .map((task) => ({ event: 'task', data: taskAnswer(task) }));
  const told = {
    watches: parts.taskWatches,
    app,
    nameOf: ({ id }: TaskInfo) => id,
    begun: (known: Parameters<typeof openTasks>[0]) => [...framesOf(openTasks(known)), listed],
    framesOf: async (tasks: Iterable<TaskInfo>) => framesOf(tasks),
  };
  return sentEvents(parts, input, (encoding, signal) => toldChanges(told, encoding, signal));
}
