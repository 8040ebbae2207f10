import { canonicalJson } from '../../base/json.ts';
import type { Agent } from '../../runnables/agent.ts';
import type { Composed } from '../../runnables/composed.ts';
import { handoffTargets } from '../../runnables/handoffs.ts';
import type { Loop } from '../../runnables/loop.ts';
import type { Parallel } from '../../runnables/parallel.ts';
import type { Sequence } from '../../runnables/sequence.ts';
import type { Step } from '../../runnables/step.ts';
import type { Runnable } from '../../session/runnable.ts';
import type { Tool } from '../../tools/tool.ts';
import { DuplicateRunnableError, UnknownRunnableError } from './errors.ts';

/** Union of all kinds of runnables, for code that handles each kind. */
export type AnyRunnable = Agent | Step | Sequence | Parallel | Loop | Composed;

/** Finds a runnable that was made at run time. */
export type ResolveRunnable = (name: string) => Runnable | undefined;

/** Runnables of an app by name: those registered and everything that they contain. */
export class Registry {
  readonly #byName = new Map<string, Runnable>();
  readonly #resolve: ResolveRunnable | undefined;

  constructor(runnables: readonly Runnable[], resolve?: ResolveRunnable) {
    this.#resolve = resolve;
    for (const runnable of runnables) this.register(runnable);
  }

  /**
   * Registers a runnable with everything that it contains.
   * @throws DuplicateRunnableError when another definition has the name
   */
  register(runnable: Runnable): void {
    const known = this.#byName.get(runnable.name);
    if (known === runnable) return;
    if (known !== undefined && !isSameDefinition(known, runnable))
      throw new DuplicateRunnableError({ name: runnable.name });
    this.#byName.set(runnable.name, runnable);
    for (const part of partsOf(runnable as AnyRunnable)) this.register(part);
  }

  has(name: string): boolean {
    return this.#byName.has(name) || this.#resolve?.(name) !== undefined;
  }

  /**
   * Returns the runnable with this name.
   * @throws UnknownRunnableError
   */
  get(name: string): AnyRunnable {
    const found = this.#byName.get(name) ?? this.#resolve?.(name);
    if (found === undefined)
      throw new UnknownRunnableError({ name, known: [...this.#byName.keys()] });
    return found as AnyRunnable;
  }

  /** Returns a tool of the agent with this name, if the agent itself has it. */
  findTool(agent: string, tool: string): Tool | undefined {
    const found = (this.#byName.get(agent) ?? this.#resolve?.(agent)) as AnyRunnable | undefined;
    return found?.kind === 'agent' ? found.tools.find(({ name }) => name === tool) : undefined;
  }

  get names(): readonly string[] {
    return [...this.#byName.keys()];
  }
}

function partsOf(runnable: AnyRunnable): readonly Runnable[] {
  switch (runnable.kind) {
    case 'sequence':
    case 'parallel':
      return runnable.runnables;
    case 'loop':
      return [runnable.runnable];
    case 'agent':
      return handoffTargets(runnable);
    case 'plan':
    case 'graph':
    case 'router':
      return runnable.parts;
    default:
      return [];
  }
}

/**
 * True when two definitions are equal. A definition made again from the same options, as by a
 * function, counts as the same.
 */
function isSameDefinition(a: Runnable, b: Runnable): boolean {
  return a.kind === b.kind && shape(a) === shape(b);
}

function shape(value: unknown): string {
  return canonicalJson(
    JSON.parse(
      JSON.stringify(value, (_key, part: unknown) =>
        typeof part === 'function' ? `function ${String(part)}` : part,
      ) ?? 'null',
    ),
  );
}
