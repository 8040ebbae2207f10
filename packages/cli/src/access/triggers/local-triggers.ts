import type { Runtime } from 'adjutant';
import { defined } from 'adjutant/text';
import {
  nextInstants,
  type Schedule,
  type TriggerHistoryEntry,
  type TriggerInfo,
} from 'adjutant/triggers';
import { runnableNamed } from '../../app/chosen-agent.ts';
import { assertDurable } from '../../app/durable-store.ts';
import type { Project } from '../../app/project.ts';
import type { Host } from '../../host/host.ts';
import type { AccessOptions } from '../app-access.ts';
import { partOf, withOwnApp } from '../own-app.ts';
import {
  type TriggerAccess,
  type TriggerChanges,
  type TriggerCommand,
  type TriggerFilter,
  type TriggerOrder,
  type TriggerPreview,
  timeZoneOf,
} from './trigger-access.ts';

type Triggers = Runtime['triggers'];

/** The triggers of an app, in a store of this machine. Workers fire them. */
export class LocalTriggerAccess implements TriggerAccess {
  readonly #host: Host;
  readonly #options: AccessOptions;

  constructor(host: Host, options: AccessOptions) {
    this.#host = host;
    this.#options = options;
  }

  list(filter: TriggerFilter): Promise<readonly TriggerInfo[]> {
    return this.#with((triggers) => triggers.list(filter));
  }

  get(name: string): Promise<TriggerInfo> {
    return this.#with((triggers) => triggers.get(name));
  }

  create(order: TriggerOrder): Promise<TriggerInfo> {
    return this.#with((triggers, project) => {
      assertDurable(project.app, 'the trigger would be gone with this command');
      runnableNamed(project, order.start, '--start');
      return triggers.create(order);
    });
  }

  update(name: string, changes: TriggerChanges): Promise<TriggerInfo> {
    return this.#with((triggers, project) => {
      if (changes.start !== undefined) runnableNamed(project, changes.start, '--start');
      return triggers.update(name, changes);
    });
  }

  control(name: string, command: TriggerCommand, reason: string | undefined): Promise<TriggerInfo> {
    const options = defined({ reason });
    return this.#with(async (triggers) => {
      if (command.kind === 'fire')
        await triggers.fire(name, { ...options, ...defined({ key: command.key }) });
      else await triggers[command.kind](name, options);
      return triggers.get(name);
    });
  }

  async preview(what: string | Schedule, count: number): Promise<TriggerPreview> {
    if (typeof what !== 'string') {
      // A schedule alone needs no app.
      const instants = nextInstants(what, { from: this.#host.clock.now(), count });
      return { timeZone: timeZoneOf(what), instants };
    }
    return this.#with(async (triggers) => {
      const instants = await triggers.preview(what, { count });
      return { timeZone: timeZoneOf((await triggers.get(what)).on), instants };
    });
  }

  history(name: string, limit: number): Promise<readonly TriggerHistoryEntry[]> {
    return this.#with((triggers) => triggers.history(name, { limit }));
  }

  #with<Result>(use: (triggers: Triggers, project: Project) => Promise<Result>): Promise<Result> {
    return withOwnApp(this.#host, this.#options, 'Triggers', async (project) =>
      use(
        partOf(project, ({ triggers }) => triggers, triggersPart),
        project,
      ),
    );
  }
}

const triggersPart = {
  lacks: 'has no triggers',
  option: "`triggers: triggers([…])`, made by 'adjutant/triggers'",
};
