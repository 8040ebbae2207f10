import type { TaskInfo } from 'adjutant/scheduler';

/** A task with the given fields; submitted at 0, queued, of one user. */
export function taskInfo(fields: Partial<TaskInfo> & { readonly name: string }): TaskInfo {
  return {
    id: fields.name.toLowerCase().replaceAll(' ', '-'),
    session: 'session',
    tenant: 'default',
    runnable: 'assistant',
    priority: 'normal',
    state: 'queued',
    queue: 'default',
    requester: 'user:ann',
    submittedAt: 0,
    attempts: 1,
    roundsCompleted: 0,
    ...fields,
  };
}
