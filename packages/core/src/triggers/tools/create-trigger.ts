import { defined } from '../../base/defined.ts';
import { contentHash } from '../../base/hash.ts';
import type { JsonObject } from '../../base/json.ts';
import { ToolFailure } from '../../tools/errors.ts';
import { type Tool, type ToolContext, tool } from '../../tools/tool.ts';
import { type EventTrigger, event } from '../declarations/event.ts';
import type { OverlapPolicy } from '../firings/overlap.ts';
import { nextInstants } from '../schedules/next-instant.ts';
import type { Schedule } from '../schedules/schedule.ts';
import { at, cron, every } from '../schedules/schedules.ts';
import type { TriggerOptions } from '../service/trigger.ts';
import type { TriggerInfo } from '../service/trigger-row.ts';
import {
  failureOf,
  isOwn,
  reachOf,
  refused,
  type TriggerReach,
  type TriggerToolsOptions,
  triggerNamed,
} from './own-triggers.ts';
import { isoIn, toldTrigger, zoneOf } from './told-trigger.ts';

type Args = {
  readonly name: string;
  readonly input: string;
  readonly start?: string;
  readonly cron?: string;
  readonly time_zone?: string;
  readonly every?: string;
  readonly at?: string;
  readonly event?: string;
  readonly overlap?: OverlapPolicy;
  readonly notify?: boolean;
};

type CreateContext = ToolContext<Args>;

/** Instants that a person is shown before the trigger is made. */
const shownInstants = 5;

/** A tool that makes a trigger, after a person has seen when it would fire. */
export function createTool(options: TriggerToolsOptions): Tool {
  const zone = options.timeZone ?? 'UTC';
  return tool({
    name: 'create_trigger',
    description:
      'Makes a trigger: work that starts by itself at times, or after events, without the user. ' +
      'Give exactly one of `cron`, `every`, `at` and `event`. A person approves it first, and ' +
      'sees when it fires next.',
    schema: schemaOf(options, zone),
    idempotent: true,
    onRepeat: 'allow',
    approval: {
      summary: (ctx) => summaryOf(ctx, options, zone),
      details: (ctx) => detailsOf(ctx, options, zone),
    },
    // An impossible trigger is refused before a person is asked.
    prepare: async (ctx: CreateContext) => {
      const on = givenOn(ctx, zone);
      assertFires(on, nowOf(ctx));
      await existing(reachOf(options, ctx), wanted(ctx, options, on));
      return ctx.args;
    },
    execute: (ctx: CreateContext) =>
      refused(async () => {
        const reach = reachOf(options, ctx);
        const order = wanted(ctx, options, givenOn(ctx, zone));
        const made =
          (await existing(reach, order)) ??
          (await reach.triggers.create(order, { by: `user:${reach.requester}` }));
        return { trigger: toldTrigger(made, zone), text: 'It fires without the user from now on.' };
      }),
  });
}

const text = { type: 'string', minLength: 1, maxLength: 200 } as const;

function schemaOf({ start }: TriggerToolsOptions, zone: string): JsonObject {
  const [first] = start ?? [];
  const starts =
    start === undefined
      ? {}
      : {
          start: {
            ...{ type: 'string', enum: [...start] },
            description: `Runnable that does the work. Default: ${first}`,
          },
        };
  return {
    type: 'object',
    properties: {
      name: { ...text, maxLength: 100, description: 'Short name, such as morning-mail' },
      input: { ...text, maxLength: 10_000, description: 'The instruction for each firing' },
      ...starts,
      cron: { ...text, description: 'Cron pattern of five fields, such as "0 8 * * 1-5"' },
      time_zone: {
        ...text,
        description: `Zone of local times, such as "Europe/Berlin". Default: ${zone}`,
      },
      every: { ...text, description: 'Distance between firings, such as "15m", "2h" or "1d"' },
      at: { ...text, description: 'Instant at which it fires once, such as "2027-06-01T15:00"' },
      event: { ...text, description: 'Type of events, or a pattern, such as "mail.*"' },
      overlap: {
        type: 'string',
        enum: ['skip', 'queue', 'coalesce', 'cancel_previous'],
        description: 'What becomes of a firing while earlier work goes on. Default: skip',
      },
      notify: { type: 'boolean', description: 'True to tell the user how each firing ended' },
    },
    required: ['name', 'input'],
    additionalProperties: false,
  };
}

/** Returns what arguments say that a trigger fires on. @throws ToolFailure */
function givenOn({ args }: CreateContext, zone: string): Schedule | EventTrigger {
  const { at: instant, cron: pattern, event: type, every: interval, time_zone = zone } = args;
  const given = [pattern, interval, instant, type].filter((one) => one !== undefined);
  if (given.length !== 1)
    throw new ToolFailure('Give exactly one of `cron`, `every`, `at` and `event`.', {
      errorType: 'invalid_trigger',
    });
  try {
    if (pattern !== undefined) return cron(pattern, { timeZone: time_zone });
    if (interval !== undefined) return every(interval as Parameters<typeof every>[0]);
    if (type !== undefined) return event(type);
    return at(String(instant), hasOffset(String(instant)) ? {} : { timeZone: time_zone });
  } catch (error) {
    throw failureOf(error);
  }
}

function hasOffset(instant: string): boolean {
  return /(?:z|[+-]\d\d(?::?\d\d)?)$/i.test(instant.replace(/^\d{4}-\d\d-\d\d/, ''));
}

function assertFires(on: Schedule | EventTrigger, now: number): void {
  if (on.kind !== 'at' || on.instant > now) return;
  throw new ToolFailure('The instant is over, so the trigger would never fire.', {
    errorType: 'invalid_trigger',
    alternatives: ['Find out what time it is, and name an instant to come.'],
  });
}

/** Latest instant that the ledger knows of: it only grows, in whatever process. */
function nowOf({ session }: CreateContext): number {
  return session.events.reduce((latest, { at: instant }) => Math.max(latest, instant), 0);
}

function wanted(
  ctx: CreateContext,
  options: TriggerToolsOptions,
  on: Schedule | EventTrigger,
): TriggerOptions {
  const { input, name, notify, overlap, start = options.start?.[0] ?? ctx.agent } = ctx.args;
  const { requester } = reachOf(options, ctx);
  return {
    ...{ name, on, start, input, requester },
    ...defined({ overlap, notify: notify === true ? { user: requester } : undefined }),
  };
}

/**
 * Returns the trigger when it was made before, as by a call that was cut off.
 * @throws ToolFailure when there is another one of this name
 */
async function existing(
  reach: TriggerReach,
  order: TriggerOptions,
): Promise<TriggerInfo | undefined> {
  const found = await triggerNamed(reach, order.name);
  if (found === undefined || found.status === 'deleted') return undefined;
  const isSame =
    isOwn(found, reach.requester) &&
    found.start === order.start &&
    found.input === order.input &&
    contentHash(found.on) === contentHash({ ...order.on });
  if (isSame) return found;
  throw new ToolFailure(`The name "${order.name}" is taken by another trigger.`, {
    errorType: 'trigger_exists',
    alternatives: ['Choose another name.'],
  });
}

function summaryOf(ctx: CreateContext, options: TriggerToolsOptions, zone: string): string {
  const on = givenOn(ctx, zone);
  const { name, start } = wanted(ctx, options, on);
  return `create_trigger "${name}": starts ${String(start)} ${inWords(ctx, on)}`;
}

function inWords({ args }: CreateContext, on: Schedule | EventTrigger): string {
  switch (on.kind) {
    case 'cron':
      return `by ${on.pattern} in ${on.timeZone}`;
    case 'every':
      return `every ${args.every}`;
    case 'at':
      return `once at ${args.at}`;
    case 'event':
      return `on each event ${on.pattern}`;
  }
}

function detailsOf(ctx: CreateContext, options: TriggerToolsOptions, zone: string): JsonObject {
  const on = givenOn(ctx, zone);
  const { name, start, input, requester } = wanted(ctx, options, on);
  const { notify, overlap } = ctx.args;
  const timeZone = zoneOf(on) ?? ctx.args.time_zone ?? zone;
  const facts = { name, start: String(start), input, requester, overlap, notify };
  const next =
    on.kind === 'event'
      ? undefined
      : nextInstants(on, { from: nowOf(ctx), count: shownInstants }).map((instant) =>
          isoIn(timeZone, instant),
        );
  return { ...defined({ ...facts, next }), on: { ...on } as JsonObject } as JsonObject;
}
