import { defined } from 'adjutant/text';
import type { TriggerInfo, TriggerStatus } from 'adjutant/triggers';
import { openAccess } from '../../access/open-access.ts';
import type { ServerFlags } from '../../access/server-flags.ts';
import type { TriggerAccess, TriggerCommand } from '../../access/triggers/trigger-access.ts';
import type { ProjectFlags } from '../../app/project.ts';
import { exitCodes, UsageError } from '../../failure.ts';
import type { Host } from '../../host/host.ts';
import { formatTime } from '../../output/format.ts';
import { jsonLine } from '../../output/json-output.ts';
import { plainLine, plainText } from '../../output/plain-text.ts';
import { styleFor } from '../../output/style.ts';
import {
  writeHistory,
  writeInstants,
  writeTriggerTable,
} from '../../output/triggers/trigger-tables.ts';
import { firesOn, isoIn, localZone } from '../../output/triggers/trigger-text.ts';
import {
  givenChanges,
  neededOn,
  neededSchedule,
  type TriggerFlags,
  type WhenFlags,
} from './given-trigger.ts';

export interface TriggerPlaceFlags extends ProjectFlags, ServerFlags {
  readonly json?: boolean;
}

export interface TriggersOptions extends TriggerPlaceFlags {
  readonly status?: readonly TriggerStatus[];
  readonly requester?: string;
  readonly limit: number;
}

export interface ControlOptions extends TriggerPlaceFlags {
  readonly reason?: string;
}

/** `adjutant triggers list`: lists triggers in the order in which they were made. */
export async function listTriggers(host: Host, options: TriggersOptions): Promise<number> {
  const { limit, requester, status } = options;
  const access = await triggersOf(host, options);
  const triggers = await access.list({ limit, ...defined({ requester, statuses: status }) });
  if (options.json) for (const trigger of triggers) host.stdout.write(jsonLine(trigger));
  else if (triggers.length === 0) host.stdout.write(noTriggers);
  else writeTriggerTable(host, triggers);
  return exitCodes.ok;
}

const noTriggers =
  'There are no such triggers. Those that code declares are listed as soon as a worker has ' +
  'begun.\n';

/** `adjutant triggers show <name>`: shows a trigger. */
export async function showTrigger(
  host: Host,
  name: string,
  options: TriggerPlaceFlags,
): Promise<number> {
  writeTrigger(host, await (await triggersOf(host, options)).get(name), options);
  return exitCodes.ok;
}

/** `adjutant triggers create <name>`: makes a trigger by data. */
export async function createTrigger(
  host: Host,
  name: string,
  options: TriggerPlaceFlags & TriggerFlags & { readonly start: string },
): Promise<number> {
  const now = host.clock.now();
  const on = neededOn(options, now);
  const order = { ...givenChanges(options, now), name, on, start: options.start };
  writeTrigger(host, await (await triggersOf(host, options)).create(order), options);
  return exitCodes.ok;
}

/** `adjutant triggers update <name>`: changes a trigger. */
export async function updateTrigger(
  host: Host,
  name: string,
  options: TriggerPlaceFlags & TriggerFlags,
): Promise<number> {
  const changes = givenChanges(options, host.clock.now());
  if (Object.keys(changes).length === 0)
    throw new UsageError({ reason: 'Nothing is to be changed. Say what, such as --every 15m.' });
  writeTrigger(host, await (await triggersOf(host, options)).update(name, changes), options);
  return exitCodes.ok;
}

/** `adjutant triggers pause <name>` and the other commands about a trigger. */
export async function controlTrigger(
  host: Host,
  name: string,
  command: TriggerCommand,
  options: ControlOptions,
): Promise<number> {
  const trigger = await (await triggersOf(host, options)).control(name, command, options.reason);
  if (options.json) host.stdout.write(jsonLine({ type: command.kind, status: 'posted', trigger }));
  else host.stdout.write(`"${plainLine(trigger.name)}" ${controlledText(command, trigger)}\n`);
  return exitCodes.ok;
}

/** `adjutant triggers preview`: shows when a trigger, or a schedule, fires next. */
export async function previewTrigger(
  host: Host,
  name: string | undefined,
  options: TriggerPlaceFlags & Omit<WhenFlags, 'event'> & { readonly count: number },
): Promise<number> {
  if (name !== undefined && hasSchedule(options))
    throw new UsageError({ reason: 'Name a trigger or a schedule, not both.' });
  const access = await triggersOf(host, options);
  const what = name ?? neededSchedule(options, host.clock.now());
  const { instants, timeZone = localZone() } = await access.preview(what, options.count);
  if (options.json)
    for (const instant of instants)
      host.stdout.write(
        jsonLine({
          instant,
          timeZone,
          local: isoIn(timeZone, instant),
          utc: isoIn('UTC', instant),
        }),
      );
  else if (instants.length === 0) host.stdout.write('It does not fire any more.\n');
  else writeInstants(host, timeZone, instants);
  return exitCodes.ok;
}

/** `adjutant triggers history <name>`: shows what has happened to a trigger, the last first. */
export async function showHistory(
  host: Host,
  name: string,
  options: TriggerPlaceFlags & { readonly limit: number },
): Promise<number> {
  const entries = await (await triggersOf(host, options)).history(name, options.limit);
  if (options.json) for (const entry of entries) host.stdout.write(jsonLine(entry));
  else writeHistory(host, entries);
  return exitCodes.ok;
}

async function triggersOf(host: Host, options: TriggerPlaceFlags): Promise<TriggerAccess> {
  return (await openAccess(host, options)).triggers;
}

function hasSchedule({ at, cron, every, zone }: WhenFlags): boolean {
  return [at, cron, every, zone].some((flag) => flag !== undefined);
}

/** Sentence after the name of a trigger: done, or stored for the process that has it. */
function controlledText({ kind }: TriggerCommand, { status }: TriggerInfo): string {
  const isPending = {
    pause: status === 'active',
    resume: status === 'paused' || status === 'disabled',
    disable: status === 'active' || status === 'paused',
    delete: status !== 'deleted',
    fire: true,
  };
  const when = isPending[kind] ? ' as soon as the worker that has it looks.' : '.';
  switch (kind) {
    case 'pause':
      return `is paused${when}`;
    case 'resume':
      return `fires again${when} Nothing is made up for.`;
    case 'disable':
      return `is disabled${when}`;
    case 'delete':
      return `is deleted${when} Its history stays.`;
    case 'fire':
      return 'fires; a worker carries out its task.';
  }
}

function writeTrigger(host: Host, trigger: TriggerInfo, { json }: TriggerPlaceFlags): void {
  if (json) {
    host.stdout.write(jsonLine(trigger));
    return;
  }
  const style = styleFor(host.stdout);
  const lines = factsOf(trigger).map(
    ([name, value]) => `  ${style.dim(name.padEnd(8))} ${plainLine(value)}`,
  );
  const head = `[${trigger.status}] ${plainLine(trigger.name)}: ${firesOn(trigger)}`;
  host.stdout.write(`${[head, ...lines].join('\n')}\n`);
}

function factsOf(trigger: TriggerInfo): readonly (readonly [string, string])[] {
  const { fired, failed, last, nextAt, notify, open, queued, revision } = trigger;
  const waiting = queued === 0 ? '' : `, ${queued} waiting`;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['about', trigger.description],
    ['starts', trigger.start],
    ['input', trigger.input && plainText(trigger.input)],
    ['for', trigger.requester],
    ['priority', trigger.priority],
    ['queue', trigger.queue],
    ['overlap', trigger.overlap],
    ['missed', trigger.missed],
    ['notifies', notify?.user],
    ['made', `${formatTime(trigger.createdAt)}, revision ${revision}`],
    ['next', nextAt === undefined ? undefined : formatTime(nextAt)],
    ['fired', `${fired}, ${failed} failed${waiting}`],
    ['last', last && `${formatTime(last.at)} ${last.status ?? 'goes on'}, ${last.session}`],
    ['open', open && `task ${open.task}, ${open.session}`],
  ];
  return facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
}
