import {
  describeValue,
  findInvalidOption,
  isFlag,
  isNonEmptyText,
  isObject,
  type OptionChecks,
} from '../base/options.ts';
import { anyRunnable, isRunnable, type Runnable } from '../session/runnable.ts';
import type { Tool } from '../tools/tool.ts';
import { InvalidDefinitionError } from './errors.ts';

/**
 * A function that gives a runnable, for one that is defined later. Its type does not look at what
 * it gives: two definitions that name each other would otherwise have no type. What it gives is
 * checked when it is called.
 */
export type LazyRunnable = () => void;

/** A handoff with options. */
export interface HandoffOptions {
  /** Runnable that continues in the place of the agent, or a function that gives it. */
  readonly to: Runnable | LazyRunnable;
  /** Name of the tool. @default `transfer_to_<name of the runnable>` */
  readonly name?: string;
  /** Description of the tool. @default made of the runnable's name and description */
  readonly description?: string;
  /**
   * True when the runnable may get the conversation back within one turn, once from this agent. A
   * turn begins with a message of the user or an answer. @default false
   */
  readonly back?: boolean;
}

/** A member of the option `handoffs` of an agent. */
export type Handoff = Runnable | LazyRunnable | HandoffOptions;

/** The longest name of a tool that every provider takes. */
const longestName = 64;
const toolName = /^[A-Za-z0-9_-]{1,64}$/;

const isTarget = (value: unknown): string | undefined =>
  isRunnable(value) || typeof value === 'function'
    ? undefined
    : `${anyRunnable}, or a function that gives one`;

const handoffChecks: OptionChecks<HandoffOptions> = {
  to: isTarget,
  name: (value) =>
    typeof value === 'string' && toolName.test(value)
      ? undefined
      : `1 to ${longestName} letters, digits, "_" or "-"`,
  description: isNonEmptyText,
  back: isFlag,
};

/** Requirement on the option `handoffs`. */
export function isListOfHandoffs(value: unknown): string | undefined {
  if (!Array.isArray(value)) return 'a list';
  for (const [i, one] of value.entries()) {
    if (isTarget(one) === undefined) continue;
    if (isObject(one) !== undefined || !('to' in (one as object)))
      return (
        'a list of runnables, functions that give one, or ' +
        `{ to, name?, description?, back? }; \`[${i}]\` is ${describeValue(one)}`
      );
    const invalid = findInvalidOption(one, handoffChecks);
    if (invalid !== undefined) return `a list of handoffs; of \`[${i}]\` ${invalid.reason}`;
  }
  return undefined;
}

/** The handoffs of one agent. Targets that functions give are asked for when they are needed. */
export class AgentHandoffs {
  readonly #agent: string;
  readonly #handoffs: readonly HandoffOptions[];
  #targets: readonly Runnable[] | undefined;
  #tools: readonly Tool[] | undefined;

  constructor(agent: string, handoffs: readonly Handoff[]) {
    this.#agent = agent;
    this.#handoffs = handoffs.map((one) =>
      isRunnable(one) || typeof one === 'function' ? { to: one } : one,
    );
  }

  /** True when no function has to be asked for a target. */
  get isKnown(): boolean {
    return this.#handoffs.every(({ to }) => isRunnable(to));
  }

  /** @throws InvalidDefinitionError when a function gives no runnable */
  get targets(): readonly Runnable[] {
    this.#targets ??= this.#handoffs.map(({ to }, i) => this.#target(to, i));
    return this.#targets;
  }

  /** The tools that hand over. @throws like `targets`; InvalidToolError */
  get tools(): readonly Tool[] {
    this.#tools ??= this.targets.map((target, i) =>
      handoffTool(target, this.#handoffs[i] as HandoffOptions),
    );
    return this.#tools;
  }

  #target(to: HandoffOptions['to'], i: number): Runnable {
    if (isRunnable(to)) return to;
    let given: unknown;
    try {
      given = (to as () => unknown)();
    } catch (cause) {
      throw this.#invalid(
        `the function of \`handoffs[${i}]\` failed (${(cause as Error | undefined)?.message}): ` +
          'define its target before the runtime is made or the agent is run',
        cause,
      );
    }
    if (isRunnable(given)) return given;
    throw this.#invalid(
      `the function of \`handoffs[${i}]\` must give ${anyRunnable}, ` +
        `not ${describeValue(given)}`,
    );
  }

  #invalid(reason: string, cause?: unknown): InvalidDefinitionError {
    const options = cause === undefined ? undefined : { cause };
    return new InvalidDefinitionError({ kind: 'agent', name: this.#agent, reason }, options);
  }
}

/** The handoffs of definitions; an agent without handoffs has none here. */
const handoffsOf = new WeakMap<object, AgentHandoffs>();

/** Remembers the handoffs of a definition. */
export function keepHandoffs(definition: object, handoffs: AgentHandoffs): void {
  handoffsOf.set(definition, handoffs);
}

/**
 * Returns the runnables that an agent may hand over to by its `handoffs`.
 * @throws InvalidDefinitionError when a function gives no runnable
 */
export function handoffTargets(definition: object): readonly Runnable[] {
  return handoffsOf.get(definition)?.targets ?? [];
}

/** The name of the tool that hands over to a runnable. */
const toolNameOf = ({ name }: Runnable): string =>
  `transfer_to_${name.replace(/[^A-Za-z0-9_-]+/g, '_')}`.slice(0, longestName);

const noArguments = Object.freeze({ type: 'object', properties: {}, additionalProperties: false });

function handoffTool(target: Runnable, { name, description, back = false }: HandoffOptions): Tool {
  const about = target.description === undefined ? '' : ` ${target.description}`;
  return Object.freeze({
    name: name ?? toolNameOf(target),
    description: description ?? `Hands the conversation over to "${target.name}".${about}`,
    inputSchema: noArguments,
    schema: noArguments,
    timeoutMs: undefined,
    requiresPermission: Object.freeze([]),
    recovery: 'rerun',
    onRepeat: 'allow',
    readOnly: false,
    idempotent: true,
    destructive: false,
    execute: () => target,
    handoff: Object.freeze({ back }),
  });
}
