import { nearestName } from '../../../base/nearest-name.ts';
import { describeValue, isFlag } from '../../../base/options.ts';
import type { EventOf } from '../../../ledger/event.ts';
import { refuseUse } from './errors.ts';
import { readOptions } from './expected-options.ts';
import { type ReadSource, readSource } from './ledger-source.ts';
import { isAsymmetric, literal, oneLine, shortened } from './literal.ts';
import {
  equal,
  failure,
  listed,
  type MatcherResult,
  type RunnerContext,
} from './matcher-context.ts';
import type { ToolOrderOptions } from './matcher-types.ts';

/** Characters of one text or call in a failure. */
const longestLine = 200;

export function toHaveAssistantText(
  this: RunnerContext,
  received: unknown,
  expected: unknown,
): MatcherResult {
  const source = readSource('toHaveAssistantText', received);
  if (typeof expected !== 'string' && !(expected instanceof RegExp) && !isAsymmetric(expected)) {
    refuseUse(
      'toHaveAssistantText',
      'the text must be a string, a regular expression or an asymmetric matcher, not ' +
        `${describeValue(expected)}`,
    );
  }
  if (expected === '') refuseUse('toHaveAssistantText', 'every text has an empty one in it');
  const texts = source.events.flatMap((event) =>
    event.type === 'assistant' ? [{ agent: event.agent, text: textOf(source, event) }] : [],
  );
  const found = texts.filter(({ text }) => hasText(text, expected));
  const { utils } = this;
  const said = (which: typeof texts): readonly string[] =>
    which.map(
      ({ agent, text }) =>
        `${agent}: ${utils.RECEIVED_COLOR(shortened(oneLine(text), longestLine))}`,
    );
  return {
    pass: found.length > 0,
    message: () =>
      failure(this, { name: 'toHaveAssistantText', received: source.kind, expected: 'text' }, [
        `Expected text: ${this.isNot ? 'not ' : ''}${utils.printExpected(expected)}`,
        ...(this.isNot
          ? listed('It was said:', said(found), '')
          : listed('What was said:', said(texts), 'No assistant said anything.')),
      ]),
  };
}

function textOf({ resolve }: ReadSource, { text }: EventOf<'assistant'>): string {
  const whole = resolve(text);
  return typeof whole === 'string' ? whole : literal(whole);
}

function hasText(text: string, expected: unknown): boolean {
  if (typeof expected === 'string') return text.includes(expected);
  // `search` leaves `lastIndex` alone, which a global expression would go on from.
  if (expected instanceof RegExp) return text.search(expected) >= 0;
  return isAsymmetric(expected) && expected.asymmetricMatch(text);
}

interface Call {
  readonly name: string;
  readonly args: unknown;
  /** Arguments that a person put in the place of the original ones. */
  readonly editedArgs: unknown;
}

export function toHaveToolCall(
  this: RunnerContext,
  received: unknown,
  name: unknown,
  args?: unknown,
): MatcherResult {
  const source = readSource('toHaveToolCall', received);
  if (typeof name !== 'string' || name === '')
    return refuseUse(
      'toHaveToolCall',
      `the name must be that of a tool, not ${describeValue(name)}`,
    );
  const calls = callsOf(source);
  const ofName = calls.filter((call) => call.name === name);
  const found = args === undefined ? ofName : ofName.filter((call) => equal(this, call.args, args));
  const { utils } = this;
  const wanted = args === undefined ? name : `${name}(${shortened(literal(args), longestLine)})`;
  const shown = (which: readonly Call[]): readonly string[] =>
    which.map((call) => utils.RECEIVED_COLOR(describeCall(call)));
  return {
    pass: found.length > 0,
    message: () =>
      failure(
        this,
        {
          name: 'toHaveToolCall',
          received: source.kind,
          expected: args === undefined ? 'name' : 'name, args',
        },
        [
          `Expected call: ${this.isNot ? 'not ' : ''}${utils.EXPECTED_COLOR(wanted)}`,
          ...(this.isNot
            ? listed('It was made:', shown(found), '')
            : otherCalls(name, ofName, calls, shown)),
          ...(this.isNot || args === undefined ? [] : nearestArguments(this, ofName, args)),
        ],
      ),
  };
}

function otherCalls(
  name: string,
  ofName: readonly Call[],
  calls: readonly Call[],
  shown: (which: readonly Call[]) => readonly string[],
): readonly string[] {
  if (ofName.length > 0) return listed(`Calls of ${name}:`, shown(ofName), '');
  const nearest = nearestName(
    name,
    calls.map((call) => call.name),
  );
  const hint = nearest === undefined ? '' : ` Did you mean ${nearest}?`;
  return listed(
    `${name} was never called.${hint} The calls were:`,
    shown(calls),
    'No tool was called.',
  );
}

/** Describes how the expected arguments differ from those of the most similar call. */
function nearestArguments(
  context: RunnerContext,
  calls: readonly Call[],
  args: unknown,
): readonly string[] {
  const nearest = nearestOf(calls, args, (call) => call.args, context);
  if (nearest === undefined) return [];
  const diff = context.utils.diff(args, nearest.args);
  const title =
    calls.length === 1
      ? 'Difference:'
      : `Difference to the nearest, number ${calls.indexOf(nearest) + 1}:`;
  return typeof diff === 'string' ? ['', title, '', diff] : [];
}

/** Returns the candidate that has most of the expected members. */
export function nearestOf<Candidate>(
  candidates: readonly Candidate[],
  expected: unknown,
  valueIn: (candidate: Candidate) => unknown,
  context: RunnerContext,
): Candidate | undefined {
  let nearest: Candidate | undefined;
  let most = -1;
  for (const candidate of candidates) {
    const value = valueIn(candidate);
    const members =
      typeof expected === 'object' && expected !== null && !isAsymmetric(expected)
        ? Object.entries(expected)
        : [];
    const found =
      typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
    const score = members.filter(
      ([key, part]) => Object.hasOwn(found, key) && equal(context, found[key], part),
    ).length;
    if (score > most) {
      most = score;
      nearest = candidate;
    }
  }
  return nearest;
}

function callsOf({ events, resolve }: ReadSource): readonly Call[] {
  const edits = new Map(
    events.flatMap((event) =>
      event.type === 'tool_result' && event.editedArgs !== undefined
        ? [[event.callId, event] as const]
        : [],
    ),
  );
  return events.flatMap((event): readonly Call[] => {
    if (event.type !== 'tool_call') return [];
    return [
      {
        name: event.name,
        args: resolve(event.args),
        editedArgs: resolve(edits.get(event.callId)?.editedArgs),
      },
    ];
  });
}

function describeCall({ name, args, editedArgs }: Call): string {
  const edited =
    editedArgs === undefined
      ? ''
      : `, which somebody edited to ${name}(${shortened(literal(editedArgs), longestLine)})`;
  return `${oneLine(name)}(${shortened(literal(args), longestLine)})${edited}`;
}

export function toHaveToolOrder(
  this: RunnerContext,
  received: unknown,
  names: unknown,
  options?: unknown,
): MatcherResult {
  const source = readSource('toHaveToolOrder', received);
  const { exact = false } = readOptions<ToolOrderOptions>('toHaveToolOrder', options, {
    exact: isFlag,
  });
  if (!Array.isArray(names) || names.some((name) => typeof name !== 'string')) {
    refuseUse(
      'toHaveToolOrder',
      `the order must be a list of names of tools, not ${describeValue(names)}`,
    );
  }
  const wanted = names as readonly string[];
  if (wanted.length === 0 && !exact)
    refuseUse(
      'toHaveToolOrder',
      'an empty order is always kept; with { exact: true } it says that no tool is called',
    );
  const called = callsOf(source).map(({ name }) => name);
  const kept = inOrder(called, wanted);
  const pass = exact
    ? called.length === wanted.length && kept === wanted.length
    : kept === wanted.length;
  return {
    pass,
    message: () =>
      failure(
        this,
        {
          name: 'toHaveToolOrder',
          received: source.kind,
          expected: exact ? 'names, { exact: true }' : 'names',
        },
        [
          `Expected order: ${this.isNot ? 'not ' : ''}` +
            this.utils.EXPECTED_COLOR(wanted.join(', ') || 'no calls'),
          ...listed(
            'Calls:',
            called.map((name) => this.utils.RECEIVED_COLOR(oneLine(name))),
            'No tool was called.',
          ),
          ...(pass ? [] : orderProblem(this, called, wanted, kept, exact)),
        ],
      ),
  };
}

/** Counts the wanted names that occur one after the other. */
function inOrder(called: readonly string[], wanted: readonly string[]): number {
  let kept = 0;
  for (const name of called) if (kept < wanted.length && name === wanted[kept]) kept++;
  return kept;
}

function orderProblem(
  context: RunnerContext,
  called: readonly string[],
  wanted: readonly string[],
  kept: number,
  exact: boolean,
): readonly string[] {
  if (exact) {
    const diff = context.utils.diff(wanted, called);
    return typeof diff === 'string' ? ['', diff] : [];
  }
  const missing = wanted[kept] as string;
  if (called.includes(missing)) {
    const before = kept === 0 ? '' : ` after ${wanted.slice(0, kept).join(', ')}`;
    return [`${missing} is not called${before}.`];
  }
  const nearest = nearestName(missing, called);
  return [
    `${missing} was never called.${nearest === undefined ? '' : ` Did you mean ${nearest}?`}`,
  ];
}
