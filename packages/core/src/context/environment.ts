import { InvalidOptionError } from '../base/invalid-option.ts';
import {
  describeValue,
  findInvalidOption,
  isListOfText,
  isOneOf,
  type OptionCheck,
  type OptionChecks,
} from '../base/options.ts';
import { toolWireName } from '../ledger/tool-name.ts';
import { injectMessage } from '../runnables/prompt-text.ts';
import type { RenderContext, Renderer, RenderState } from '../runnables/render-context.ts';
import { isTimeZone, zonedTime } from './zoned-time.ts';

/** Options of `injectEnvironment`. */
export interface EnvironmentOptions {
  /**
   * Time that the message tells, always a recorded one. `turn`: that of the last message of the
   * user, or of the start of the agent when that is later, so that the rounds of a turn share the
   * beginning of their prompts. `round`: that of the newest event that the agent sees. `false`: no
   * time.
   * @default 'turn'
   */
  readonly time?: 'turn' | 'round' | false;
  /**
   * IANA name of the user's time zone (`'Europe/Berlin'`), or a pure function that reads it from
   * the state. Where the function gives none, or one that does not exist, it is UTC.
   * @default 'UTC'
   */
  readonly timeZone?: string | ((context: RenderState) => unknown);
  /**
   * Capabilities that the message lists: texts, or a pure function that gives them. `'tools'`: the
   * names of the tools that the model is offered. `false`: none.
   * @default 'tools'
   */
  readonly capabilities?:
    | 'tools'
    | readonly string[]
    | ((context: RenderContext) => readonly string[])
    | false;
}

const isZone: OptionCheck = (value) =>
  typeof value === 'function' || (typeof value === 'string' && isTimeZone(value))
    ? undefined
    : "the name of a time zone such as 'Europe/Berlin', or a function that reads it from the state";

const optionChecks: OptionChecks<EnvironmentOptions> = {
  time: (value) =>
    value === false || isOneOf('turn', 'round')(value) === undefined
      ? undefined
      : "'turn', 'round' or false",
  timeZone: isZone,
  capabilities: (value) =>
    value === false ||
    value === 'tools' ||
    typeof value === 'function' ||
    isListOfText(value) === undefined
      ? undefined
      : "'tools', a list of strings, a function that gives one, or false",
};

/**
 * Adds a system message with the current time, the time zone of the user and the capabilities of
 * the agent. Behind the instructions it is the context that each conversation needs. All of it is
 * made of the ledger: the time is a recorded one, so a replay makes the same prompt.
 * @throws InvalidOptionError
 * @example
 * ```ts
 * import { agent } from 'adjutant';
 * import { includeHistory, injectEnvironment } from 'adjutant/context';
 *
 * export const clerk = agent({
 *   name: 'clerk',
 *   model: 'openai:gpt-5-mini',
 *   instructions: 'You help the customers of a shop.',
 *   context: [
 *     injectEnvironment({
 *       timeZone: ({ state }) => state['user']?.['timeZone'],
 *       capabilities: ['Answer questions about orders'],
 *     }),
 *     includeHistory(),
 *   ],
 * });
 * ```
 */
export function injectEnvironment(options: EnvironmentOptions = {}): Renderer {
  const invalid = findInvalidOption(options, optionChecks);
  if (invalid !== undefined)
    throw new InvalidOptionError({ function: 'injectEnvironment', reason: invalid.reason });
  const { time = 'turn', timeZone = 'UTC', capabilities = 'tools' } = options;
  return (context) => {
    const lines = [
      ...(time === false ? [] : [timeLine(context, time, timeZone)]),
      ...capabilityLines(context, capabilities),
    ];
    return lines.length === 0 ? context : injectMessage('system', lines.join('\n'))(context);
  };
}

function timeLine(
  context: RenderContext,
  time: 'turn' | 'round',
  timeZone: NonNullable<EnvironmentOptions['timeZone']>,
): string {
  const given = typeof timeZone === 'string' ? timeZone : timeZone(context);
  const zone = typeof given === 'string' && isTimeZone(given) ? given : 'UTC';
  const { text, offset } = zonedTime(recordedTime(context, time), zone);
  const named = zone === 'UTC' ? zone : `${zone}, ${offset}`;
  return `Current time: ${text} (time zone of the user: ${named})`;
}

/** True for a text that `injectEnvironment` has made. */
export function isEnvironmentText(text: string): boolean {
  return /^(?:Current time: |Tools that you can use: |What you can do:\n- )/.test(text);
}

/** Returns the time of the newest event that counts, in epoch milliseconds. */
function recordedTime(context: RenderContext, time: 'turn' | 'round'): number {
  const { events } = context.withEvents([]).includeHistory('ancestors');
  let latest = context.startedAt;
  for (let i = events.length - 1; i >= 0; i--) {
    const event = events[i];
    const at = event?.type === 'rewritten' ? event.event : event;
    if (at === undefined || !('at' in at) || (time === 'turn' && at.type !== 'user')) continue;
    latest = Math.max(latest, at.at);
    if (time === 'turn') break;
  }
  return latest;
}

function capabilityLines(
  context: RenderContext,
  capabilities: NonNullable<EnvironmentOptions['capabilities']>,
): readonly string[] {
  if (capabilities === false) return [];
  if (capabilities === 'tools') {
    const names = context.tools.map(toolWireName);
    return names.length === 0 ? [] : [`Tools that you can use: ${names.join(', ')}`];
  }
  const list = typeof capabilities === 'function' ? capabilities(context) : capabilities;
  if (isListOfText(list) !== undefined)
    throw new InvalidOptionError({
      function: 'injectEnvironment',
      reason: `\`capabilities\` must give a list of strings, not ${describeValue(list)}`,
    });
  return list.length === 0 ? [] : ['What you can do:', ...list.map((text) => `- ${text}`)];
}
