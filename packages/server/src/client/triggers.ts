import { defined } from './defined.ts';
import { type CallOptions, pathOf, type Transport, type WriteOptions } from './transport.ts';
import type {
  NewTrigger,
  ServerTrigger,
  ServerTriggerHistoryEntry,
  TriggerChange,
  TriggerListQuery,
  TriggerSchedule,
} from './types.ts';

/** A command about a trigger, with its reason. */
export interface TriggerControl extends WriteOptions {
  readonly reason?: string;
}

/** Triggers, which start tasks by themselves. Rejects as `Sessions`. */
export class Triggers {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Triggers in the order in which they were made; `status` asks for deleted ones too. */
  async list(
    query: TriggerListQuery = {},
    options: CallOptions = {},
  ): Promise<readonly ServerTrigger[]> {
    const { triggers } = await this.#transport.json<{ triggers: readonly ServerTrigger[] }>({
      method: 'GET',
      path: pathOf('triggers'),
      query: { ...query },
      ...options,
    });
    return triggers;
  }

  get(trigger: string, options: CallOptions = {}): Promise<ServerTrigger> {
    return this.#transport.json({ method: 'GET', path: pathOf('triggers', trigger), ...options });
  }

  /** Makes a trigger by data: on a schedule, or on published events. */
  create(trigger: NewTrigger, options: WriteOptions = {}): Promise<ServerTrigger> {
    const path = pathOf('triggers');
    return this.#transport.json({ method: 'POST', path, body: trigger, ...options });
  }

  /** Changes a trigger: options that are not named stay, and `null` takes one away. */
  update(
    trigger: string,
    change: TriggerChange,
    options: WriteOptions = {},
  ): Promise<ServerTrigger> {
    const path = pathOf('triggers', trigger);
    return this.#transport.json({ method: 'PATCH', path, body: change, ...options });
  }

  /**
   * Lets a trigger not fire until it is resumed. It is paused when this resolves, unless another
   * process has the trigger for longer than a second: then that one does it. The same holds for
   * `resume`, `disable` and `delete`.
   */
  pause(trigger: string, options: TriggerControl = {}): Promise<void> {
    return this.#control(trigger, 'pause', options);
  }

  /** Lets a paused or disabled trigger fire again. */
  resume(trigger: string, options: TriggerControl = {}): Promise<void> {
    return this.#control(trigger, 'resume', options);
  }

  /** Takes a trigger out of use until it is resumed. */
  disable(trigger: string, options: TriggerControl = {}): Promise<void> {
    return this.#control(trigger, 'disable', options);
  }

  /** Fires a trigger now; the same `key` again is the same firing. Resolves when it is stored. */
  fire(
    trigger: string,
    { key, ...options }: TriggerControl & { readonly key?: string } = {},
  ): Promise<void> {
    return this.#control(trigger, 'fire', options, defined({ key }));
  }

  /** Ends a trigger and cancels its open work. Its history stays. */
  async delete(trigger: string, options: WriteOptions = {}): Promise<void> {
    await this.#transport.json({
      method: 'DELETE',
      path: pathOf('triggers', trigger),
      ...options,
    });
  }

  /**
   * Returns the next instants of a trigger, or of a schedule that is not saved yet, in epoch
   * milliseconds.
   */
  async preview(
    what: string | TriggerSchedule,
    { count, ...options }: CallOptions & { readonly count?: number } = {},
  ): Promise<readonly number[]> {
    const call =
      typeof what === 'string'
        ? ({ method: 'GET', path: pathOf('triggers', what, 'preview') } as const)
        : ({ method: 'POST', path: pathOf('triggers', 'preview') } as const);
    const asked = defined({ count });
    const { instants } = await this.#transport.json<{ instants: readonly number[] }>({
      ...call,
      ...(typeof what === 'string' ? { query: asked } : { body: { on: what, ...asked } }),
      ...options,
    });
    return instants;
  }

  /** History of a trigger, the last entry first. */
  async history(
    trigger: string,
    { limit, ...options }: CallOptions & { readonly limit?: number } = {},
  ): Promise<readonly ServerTriggerHistoryEntry[]> {
    const { history } = await this.#transport.json<{
      history: readonly ServerTriggerHistoryEntry[];
    }>({
      method: 'GET',
      path: pathOf('triggers', trigger, 'history'),
      query: defined({ limit }),
      ...options,
    });
    return history;
  }

  async #control(
    trigger: string,
    verb: string,
    { reason, ...options }: TriggerControl,
    more: object = {},
  ): Promise<void> {
    await this.#transport.json({
      method: 'POST',
      path: pathOf('triggers', trigger, verb),
      body: { ...defined({ reason }), ...more },
      ...options,
    });
  }
}
