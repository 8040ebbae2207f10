import { canonicalJson } from '../../../base/json.ts';
import { replaceReferences } from '../../../ledger/blobs/blob.ts';
import type { Event, EventOf, EventType, RequestKind } from '../../../ledger/event.ts';
import { lastPartOf } from '../../../ledger/path.ts';
import type { ToolResult } from '../../../ledger/tool-result.ts';
import { literal, oneLine, shortened } from './literal.ts';

export interface LineOptions {
  readonly all: boolean;
  readonly longest: number;
  readonly resolve: (value: unknown) => unknown;
}

type LineOf = { readonly [Type in EventType]: (event: EventOf<Type>) => string | undefined };

/**
 * Makes a line of each event. Events have to come in the order of the ledger: some lines depend on
 * earlier events.
 */
export class StoryLines {
  readonly #options: LineOptions;
  /** Names of invocations, by path. */
  readonly #names = new Map<string, string>();
  readonly #tools = new Map<string, string>();
  /**
   * Texts that were said at or below each path: an output equal to one of these is not repeated.
   */
  readonly #said = new Map<string, Set<string>>();

  constructor(options: LineOptions) {
    this.#options = options;
  }

  /** Returns the line of an event; `undefined`: the event is left out. */
  of(event: Event): string | undefined {
    // A ledger of a later version may have types that this one does not know.
    if (!Object.hasOwn(this.#lines, event.type)) return oneLine(event.type);
    return (this.#lines[event.type] as (event: Event) => string | undefined)(event);
  }

  readonly #lines: LineOf = {
    user: ({ text, parts = [] }) => {
      const files = parts.flatMap((part) =>
        part.type === 'file' ? [` [${part.name ?? part.artifact}, ${part.mediaType}]`] : [],
      );
      return `user: ${this.#text(text)}${oneLine(files.join(''))}`;
    },
    assistant: (event) => {
      this.#say(event);
      if (event.text === '' && event.output !== undefined)
        return `${event.agent}: ${this.#value(event.output)}`;
      return `${event.agent}: ${this.#text(event.text)}`;
    },
    thought: ({ agent, text }) => `${agent} thinks: ${this.#text(text)}`,
    tool_call: ({ callId, agent, name, args, invalid }) => {
      this.#tools.set(callId, name);
      return (
        `${agent} calls ` +
        `${this.#call(name, args)}${invalid === undefined ? '' : ', which is no JSON'}`
      );
    },
    tool_attempt: ({ callId, attempt, tool }) => {
      if (tool !== undefined) return `${tool} is run in the place of ${this.#tool(callId)}`;
      if (attempt > 1) return `${this.#tool(callId)} is run again (attempt ${attempt})`;
      return this.#options.all ? `${this.#tool(callId)} is run` : undefined;
    },
    tool_result: (event) => this.#result(event),
    tool_yield: ({ name, kind }) => `${name} waits for ${awaited[kind] ?? kind}`,
    tool_input: (event) => this.#answer(event),
    state_change: (event) => this.#change(event),
    invocation_start: (event) => this.#start(event),
    invocation_yield: ({ invocationId, reason }) =>
      `${this.#name(invocationId)} ${waits[reason] ?? 'waits'}`,
    invocation_resume: ({ invocationId }) => `${this.#name(invocationId)} goes on`,
    invocation_end: (event) => this.#end(event),
    invocation_reopen: ({ invocationId, reason }) =>
      `${this.#name(invocationId)} is opened again: ${this.#text(reason)}`,
    model_start: ({ agent, model, round, attempt }) =>
      this.#options.all
        ? `${agent} asks ${model} (round ${round}${attempt > 1 ? `, attempt ${attempt}` : ''})`
        : undefined,
    model_end: (event) => this.#modelEnd(event),
    handoff: ({ from, to, reason }) =>
      `${from} hands over to ${to}${reason === undefined ? '' : `: ${this.#text(reason)}`}`,
    decision: ({ component, decision }) => `${component} decides ${decision}`,
    compaction: ({ strategy = 'summary', covers }) =>
      `the prompt becomes shorter: ${strategy} of ${covers.length} events`,
    memory: ({ key, text }) =>
      `remembered${key === undefined ? '' : ` as ${key}`}: ${this.#text(text)}`,
    artifact: ({ name, version, mediaType }) =>
      `artifact ${oneLine(name)}, version ${version} (${mediaType})`,
    plan: ({ revision, subtasks, diff: { added, changed, removed } }) =>
      `plan, revision ${revision} (${subtasks.length} subtasks: ${added.length} new, ` +
      `${changed.length} changed, ${removed.length} dropped)`,
    plan_update: ({ subtask, error }) => `subtask ${subtask} fails: ${this.#error(error)}`,
    error: ({ phase, error }) => `error in ${phase}: ${this.#error(error)}`,
    cancel: ({ reason }) => `cancelled${reason === undefined ? '' : `: ${this.#text(reason)}`}`,
  };

  #result(event: EventOf<'tool_result'>): string {
    const { name, callId, settled, late, notes, fallback, next, editedArgs } = event;
    const result = this.#resolved(event.result) as ToolResult;
    const called = this.#tool(callId, name);
    // A tool that ran in the place of another has its own line.
    const subject = editedArgs === undefined ? name : this.#call(name, editedArgs);
    const again =
      settled || late === true
        ? ''
        : `, to be tried again${fallback === undefined ? '' : ` with ${fallback}`}`;
    const tail = [
      again,
      late === true ? ' (late)' : '',
      result.final === true ? ' (final)' : '',
      next === undefined ? '' : `, and hands over to ${next.name}`,
      ...(this.#resolved(notes ?? []) as readonly unknown[]).map(
        (note) => ` [noted: ${this.#text(note)}]`,
      ),
    ];
    return (
      `${subject}${name === called ? '' : ` for ${called}`} ` +
      `${this.#outcome(result)}${tail.join('')}`
    );
  }

  #outcome({ status, content, errorType }: ToolResult): string {
    if (status === 'success') return `gives ${this.#value(content)}`;
    if (status === 'partial') return `gives a part: ${this.#value(content)}`;
    const kind = errorType === undefined || errorType === status ? '' : ` (${oneLine(errorType)})`;
    const said =
      content === null || content === ''
        ? ''
        : `: ${typeof content === 'string' ? this.#text(content) : this.#value(content)}`;
    return `${failures[status] ?? status}${kind}${said}`;
  }

  #answer({ callId, decision = 'answer', input, reason, by }: EventOf<'tool_input'>): string {
    const colon = by.indexOf(':');
    const what =
      decision === 'edit'
        ? ` to ${this.#call('', input)}`
        : input === undefined
          ? ''
          : `: ${this.#value(input)}`;
    const why = reason === undefined ? '' : `: ${this.#text(reason)}`;
    const actor = colon < 0 ? '' : ` by ${oneLine(by.slice(colon + 1))}`;
    return `${this.#tool(callId)} ${answers[decision] ?? decision}${what}${actor}${why}`;
  }

  #change({ scope, source, changes }: EventOf<'state_change'>): string | undefined {
    if (changes.length === 0 && !this.#options.all) return undefined;
    const parts = changes.map(({ key, newValue }) => {
      return `${oneLine(key)} ${newValue === undefined ? 'deleted' : `= ${this.#value(newValue)}`}`;
    });
    return (
      `${scope} state${source === 'observation' ? ' seen' : ''}: ` +
      `${parts.join(', ') || 'nothing new'}`
    );
  }

  #start(event: EventOf<'invocation_start'>): string {
    const { invocationId, kind, name, mode, inputFrom } = event;
    this.#names.set(invocationId, numbered(invocationId, name));
    // Data that flows between parts is told already, as their outputs.
    const input = inputFrom === undefined ? event.input : undefined;
    const message =
      mode === 'root' || input?.message === undefined ? '' : ` with ${this.#value(input.message)}`;
    const data =
      input?.data === undefined
        ? ''
        : `${message === '' ? ' with' : ' and'} ${this.#value(input.data)}`;
    const how = mode === 'root' || mode === 'child' ? '' : ` (${mode})`;
    return `${kind} ${this.#name(invocationId)} starts${how}${message}${data}`;
  }

  #end(event: EventOf<'invocation_end'>): string {
    const { invocationId, status, error, stopReason, next } = event;
    const why = stopReason === undefined ? '' : ` (${stopReason})`;
    const name = this.#name(invocationId);
    if (status === 'error') {
      const cause = error === undefined ? 'no error is recorded' : this.#error(error);
      return `${name} fails${why}: ${cause}`;
    }
    if (status === 'cancelled') return `${name} is cancelled`;
    if (next !== undefined) return `${name} hands over to ${next.name}`;
    const output = this.#resolved(event.output);
    const isTold =
      output === undefined ||
      output === null ||
      this.#said.get(invocationId)?.has(canonicalJson(output)) === true;
    return `${name} ends${why}${isTold ? '' : ` with ${this.#value(output)}`}`;
  }

  #modelEnd({
    invocationId,
    status,
    error,
    retryAfterMs,
    substitutedBy,
    attempt,
  }: EventOf<'model_end'>): string | undefined {
    const name = this.#name(invocationId);
    const { all } = this.#options;
    if (substitutedBy !== undefined)
      return `${substitutedBy} answers in the place of the model of ${name}`;
    if (status === 'completed')
      return all
        ? `the model of ${name} answers${attempt > 1 ? ` (attempt ${attempt})` : ''}`
        : undefined;
    const again = retryAfterMs === undefined ? '' : ', to be asked again';
    if (status !== 'error') return `the model of ${name} is ${status}${again}`;
    return (
      `the model of ${name} ` +
      `fails${error === undefined ? '' : `: ${this.#error(error)}`}${again}`
    );
  }

  #say({ invocationId, text, output }: EventOf<'assistant'>): void {
    if (invocationId === undefined) return;
    const said = [
      canonicalJson(this.#resolved(text)),
      ...(output === undefined ? [] : [canonicalJson(this.#resolved(output))]),
    ];
    for (
      let end = invocationId.length;
      end > 0;
      end = Math.max(invocationId.lastIndexOf('/', end - 1), invocationId.lastIndexOf('>', end - 1))
    ) {
      const path = invocationId.slice(0, end);
      const known = this.#said.get(path) ?? new Set();
      for (const value of said) known.add(value);
      this.#said.set(path, known);
    }
  }

  #name(path: string): string {
    return oneLine(this.#names.get(path) ?? lastPartOf(path).replace(/^.*>/s, ''));
  }

  #tool(callId: string, otherwise = 'a call'): string {
    return oneLine(this.#tools.get(callId) ?? otherwise);
  }

  #call(name: string, args: unknown): string {
    const value = this.#value(args);
    return `${oneLine(name)}(${value === '{}' ? '' : value})`;
  }

  #error({ code, message }: { readonly code: string; readonly message: unknown }): string {
    const { code: known, message: said } = this.#resolved({ code, message }) as {
      code: string;
      message: unknown;
    };
    return `${known}: ${this.#text(said)}`;
  }

  #text(text: unknown): string {
    const whole = this.#resolved(text);
    return shortened(
      typeof whole === 'string' ? oneLine(whole) : literal(whole),
      this.#options.longest,
    );
  }

  #value(value: unknown): string {
    return shortened(literal(this.#resolved(value)), this.#options.longest);
  }

  /**
   * Resolves large values. Values that are not there are shown by their size, because their
   * addresses differ every time.
   */
  #resolved(value: unknown): unknown {
    return replaceReferences(
      this.#options.resolve(value),
      ({ size, hash }) => `large value, ${size} bytes, ${hash.slice(0, 6)}`,
    );
  }
}

/**
 * Returns `writer#2` for the second iteration. Other paths end in a part that differs every time.
 */
function numbered(path: string, name: string): string {
  const iteration = /#(\d{1,6})$/.exec(path)?.[1];
  return iteration === undefined ? name : `${name}#${iteration}`;
}

const awaited: Readonly<Record<RequestKind, string>> = {
  approval: 'approval',
  input: 'input',
  result: 'its result',
  recovery: 'word of an attempt whose outcome is unknown',
  repeat: 'leave to be run again',
  limit: 'what to do at a limit',
};

const waits: Readonly<Record<string, string>> = {
  tool_input: 'waits for an answer',
  input: 'waits for a message',
  pause: 'is paused',
};

const failures: Readonly<Record<string, string>> = {
  error_transient: 'fails for now',
  error_permanent: 'fails',
  error_blocked: 'is blocked',
  timeout: 'takes too long',
  unknown: 'has an unknown outcome',
};

const answers: Readonly<Record<string, string>> = {
  approve: 'is approved',
  edit: 'is approved and edited',
  reject: 'is rejected',
  expire: 'expires',
  escalate: 'is passed on to somebody else',
  cancel: 'is cancelled',
  succeeded: 'is said to have succeeded',
  retry: 'is to be run again',
  report: 'is to be reported',
  continue: 'may go on',
  answer: 'is answered',
};
