import type {
  AdjutantClient,
  NewTrigger,
  ServerTrigger,
  TriggerChange,
} from '@adjutant/server/client';
import { defined } from 'adjutant/text';
import type { Schedule, TriggerHistoryEntry, TriggerInfo } from 'adjutant/triggers';
import { UsageError } from '../../failure.ts';
import {
  type TriggerAccess,
  type TriggerChanges,
  type TriggerCommand,
  type TriggerFilter,
  type TriggerOrder,
  type TriggerPreview,
  timeZoneOf,
} from './trigger-access.ts';

/** Most triggers that a server lists. */
const mostListed = 1_000;

/** The triggers of a server. */
export class ServerTriggerAccess implements TriggerAccess {
  readonly #client: () => Promise<AdjutantClient>;

  constructor(client: () => Promise<AdjutantClient>) {
    this.#client = client;
  }

  async list({ statuses, requester, limit }: TriggerFilter): Promise<readonly TriggerInfo[]> {
    const { triggers } = await this.#client();
    const status = statuses === undefined ? undefined : [...statuses];
    // A server does not choose by requester.
    const asked = requester === undefined ? limit : mostListed;
    const found = (await triggers.list({ limit: asked, ...defined({ status }) })).map(infoOf);
    return found
      .filter((one) => requester === undefined || one.requester === requester)
      .slice(0, limit);
  }

  async get(name: string): Promise<TriggerInfo> {
    return infoOf(await (await this.#client()).triggers.get(name));
  }

  async create(order: TriggerOrder): Promise<TriggerInfo> {
    return infoOf(await (await this.#client()).triggers.create(order as NewTrigger));
  }

  async update(name: string, changes: TriggerChanges): Promise<TriggerInfo> {
    return infoOf(await (await this.#client()).triggers.update(name, changes as TriggerChange));
  }

  async control(
    name: string,
    command: TriggerCommand,
    reason: string | undefined,
  ): Promise<TriggerInfo> {
    const { triggers } = await this.#client();
    const options = defined({ reason });
    if (command.kind === 'fire')
      await triggers.fire(name, { ...options, ...defined({ key: command.key }) });
    else if (command.kind !== 'delete') await triggers[command.kind](name, options);
    else if (reason === undefined) await triggers.delete(name);
    else
      throw new UsageError({
        reason: '--reason: a server deletes a trigger without one. Leave it out.',
      });
    return infoOf(await triggers.get(name));
  }

  async preview(what: string | Schedule, count: number): Promise<TriggerPreview> {
    const { triggers } = await this.#client();
    const instants = await triggers.preview(what, { count });
    const on = typeof what === 'string' ? (await triggers.get(what)).on : what;
    return { timeZone: timeZoneOf(on), instants };
  }

  async history(name: string, limit: number): Promise<readonly TriggerHistoryEntry[]> {
    const { triggers } = await this.#client();
    return (await triggers.history(name, { limit })) as readonly TriggerHistoryEntry[];
  }
}

/** Returns a trigger in the form in which an app lists it. */
function infoOf(trigger: ServerTrigger): TriggerInfo {
  return trigger as TriggerInfo;
}
