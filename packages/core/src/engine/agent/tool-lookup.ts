import type { Agent } from '../../runnables/agent.ts';
import type { Tool } from '../../tools/tool.ts';
import { type Toolset, toolset } from '../../tools/toolset.ts';

/** Tools of an agent: its own, and those of its app that its own do not hide. */
export class AgentTools {
  readonly #own: Toolset;
  readonly #shared: Toolset;
  readonly #listed: readonly Tool[];

  constructor(agent: Agent, shared: Toolset) {
    this.#own = toolset(agent.tools);
    this.#listed = agent.tools;
    this.#shared = shared;
  }

  all(): readonly Tool[] {
    const shared = this.#shared.list();
    return shared.length === 0
      ? this.#listed
      : [...this.#listed, ...shared.filter(({ name }) => !this.#own.has(name))];
  }

  find(name: string): Tool | undefined {
    return this.#own.get(name) ?? this.#shared.get(name);
  }

  /** Returns the name of a tool for the wire name that the model was given. */
  canonicalName(wireName: string): string {
    return this.#own.fromWireName(wireName) ?? this.#shared.fromWireName(wireName) ?? wireName;
  }
}
