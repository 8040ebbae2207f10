import type { AdjutantClient, ServerTask } from '@adjutant/server/client';
import type { TaskInfo } from 'adjutant/scheduler';
import { defined } from 'adjutant/text';
import type {
  ExplainedTask,
  SubmittedTask,
  TaskAccess,
  TaskCommand,
  TaskFilter,
  TaskOrder,
} from './task-access.ts';

/** The tasks of a server. */
export class ServerTaskAccess implements TaskAccess {
  readonly #client: () => Promise<AdjutantClient>;

  constructor(client: () => Promise<AdjutantClient>) {
    this.#client = client;
  }

  async list({ states, requester, limit }: TaskFilter): Promise<readonly TaskInfo[]> {
    const { tasks } = await this.#client();
    const state = states === undefined ? undefined : [...states];
    return (await tasks.list({ limit, ...defined({ requester, state }) })).map(infoOf);
  }

  async explain(id: string): Promise<ExplainedTask> {
    const { task, ...place } = await (await this.#client()).tasks.explain(id);
    return { ...place, task: infoOf(task) };
  }

  async submit(order: TaskOrder): Promise<SubmittedTask> {
    const { joined, ...task } = await (await this.#client()).tasks.submit(order);
    return { joined, task: infoOf(task) };
  }

  async control(id: string, command: TaskCommand, reason: string | undefined): Promise<TaskInfo> {
    const { tasks } = await this.#client();
    const options = defined({ reason });
    switch (command.kind) {
      case 'cancel':
        return infoOf(await tasks.cancel(id, options));
      case 'suspend':
        return infoOf(await tasks.suspend(id, options));
      case 'resume':
        return infoOf(await tasks.resume(id, options));
      case 'move_to_front':
        return infoOf(await tasks.moveToFront(id, options));
      case 'retry':
        return infoOf(await tasks.retry(id, options));
      case 'reprioritize':
        return infoOf(await tasks.reprioritize(id, command.priority, options));
    }
  }

  async discard(id: string): Promise<void> {
    await (await this.#client()).tasks.discard(id);
  }
}

/** Returns the task in the form in which an app lists it. The key of the server has one tenant. */
function infoOf({ agent, ...task }: ServerTask): TaskInfo {
  return { ...task, runnable: agent, tenant: 'default' } as TaskInfo;
}
