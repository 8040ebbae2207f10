import type { Runtime } from 'adjutant';
import type { TaskInfo } from 'adjutant/scheduler';
import { defined } from 'adjutant/text';
import { chosenAgent } from '../../app/chosen-agent.ts';
import { assertDurable } from '../../app/durable-store.ts';
import { openExisting, openProject, openReader, withProject } from '../../app/project.ts';
import type { Host } from '../../host/host.ts';
import type { AccessOptions } from '../app-access.ts';
import type {
  ExplainedTask,
  SubmittedTask,
  TaskAccess,
  TaskCommand,
  TaskFilter,
  TaskOrder,
} from './task-access.ts';

/** The tasks in a store of this machine. Workers carry them out. */
export class LocalTaskAccess implements TaskAccess {
  readonly #host: Host;
  readonly #options: AccessOptions;

  constructor(host: Host, options: AccessOptions) {
    this.#host = host;
    this.#options = options;
  }

  list(filter: TaskFilter): Promise<readonly TaskInfo[]> {
    return withProject(openReader(this.#host, this.#options), async (project) =>
      project === undefined ? [] : project.app.tasks.list(filter),
    );
  }

  explain(id: string): Promise<ExplainedTask> {
    return this.#with((app) => app.tasks.explain(id));
  }

  submit({ agent: name, input, ...options }: TaskOrder): Promise<SubmittedTask> {
    return withProject(openProject(this.#host, this.#options), async (project) => {
      const { app } = project;
      assertDurable(app, 'the task would be gone with this command');
      const agent = await chosenAgent(this.#host, project, { agent: name });
      const submitted = await app.submit(agent, input, options);
      return { task: await submitted.info(), joined: submitted.joined };
    });
  }

  control(id: string, command: TaskCommand, reason: string | undefined): Promise<TaskInfo> {
    const options = defined({ reason });
    return this.#with(async ({ tasks }) => {
      switch (command.kind) {
        case 'cancel':
          await tasks.cancel(id, options);
          break;
        case 'suspend':
          await tasks.suspend(id, options);
          break;
        case 'resume':
          await tasks.resume(id, options);
          break;
        case 'move_to_front':
          await tasks.moveToFront(id, options);
          break;
        case 'retry':
          await tasks.retry(id, options);
          break;
        case 'reprioritize':
          await tasks.reprioritize(id, command.priority, options);
      }
      return tasks.get(id);
    });
  }

  discard(id: string): Promise<void> {
    return this.#with(({ tasks }) => tasks.discard(id));
  }

  #with<Result>(use: (app: Runtime) => Promise<Result>): Promise<Result> {
    return withProject(openExisting(this.#host, this.#options), ({ app }) => use(app));
  }
}
