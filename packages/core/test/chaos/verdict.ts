import type { Runtime, StoredEvent } from 'adjutant';
import { readEffects } from '../crash/effect-file.ts';
import { ended, persistently, type Submitted } from './load.ts';
import { paymentsOfTask } from './order.ts';

/** Facts about all that was submitted, after it has ended. */
export interface Verdict {
  readonly tasks: number;
  /** Tasks that did not complete. */
  readonly lost: readonly string[];
  /** Payments that are missing in the outside world. */
  readonly missing: number;
  /** Payments that the outside world took twice: with two keys for one call. */
  readonly doubled: number;
  /** Executions that were made again because a worker was gone, with the key of the first. */
  readonly again: number;
  /** Ledgers in which something is there twice, or not in its order. */
  readonly damaged: readonly string[];
}

/** Waits for the end of all tasks, and looks at their ledgers and effects. */
export async function verdict(
  app: Runtime,
  tasks: readonly Submitted[],
  effects: string,
): Promise<Verdict> {
  const lost: string[] = [];
  const damaged: string[] = [];
  for (const task of tasks) {
    const { status } = await ended(app, task);
    if (status !== 'completed') lost.push(`${task.id} ${status}`);
    const own = app.tenants.get(task.tenant);
    const { session } = await persistently(() => own.tasks.get(task.id));
    const { events } = await persistently(() => own.sessions.open({ id: session }));
    const defect = defectOf(events);
    if (defect !== undefined) damaged.push(`${session}: ${defect}`);
  }
  const done = readEffects(effects);
  const keys = new Map<string, Set<string>>();
  for (const { session, callId, key } of done) {
    const call = `${session} ${callId}`;
    keys.set(call, (keys.get(call) ?? new Set()).add(key));
  }
  const payments = [...keys.values()].reduce((sum, { size }) => sum + size, 0);
  return {
    tasks: tasks.length,
    lost,
    missing: tasks.length * paymentsOfTask - keys.size,
    doubled: payments - keys.size,
    again: done.length - payments,
    damaged,
  };
}

function defectOf(events: readonly StoredEvent[]): string | undefined {
  const gap = events.findIndex(({ seq }, i) => seq !== i + 1);
  if (gap !== -1) return `event ${gap + 1} is not there`;
  const ends = events.filter(
    (event) => event.type === 'invocation_end' && !String(event['invocationId']).includes('/'),
  );
  if (ends.length !== 1) return `${ends.length} ends of the run`;
  const settled = events.flatMap((event) =>
    event.type === 'tool_result' && event['settled'] === true ? [String(event['callId'])] : [],
  );
  if (new Set(settled).size !== settled.length) return 'a call that was settled twice';
  return settled.length === paymentsOfTask ? undefined : `${settled.length} payments`;
}
