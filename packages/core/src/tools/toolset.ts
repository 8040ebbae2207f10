import { nearestName } from '../base/nearest-name.ts';
import { toolWireName } from '../ledger/tool-name.ts';
import { DuplicateToolError } from './errors.ts';
import { renameTool, type Tool } from './tool.ts';

/**
 * The available tools, in the order in which they were added. Changes apply from the next model
 * call on.
 */
export interface Toolset {
  readonly size: number;
  /**
   * Adds all of the tools, or none.
   * @throws DuplicateToolError when a name is taken, or would look to a model like one that is
   */
  add(...tools: readonly Tool[]): void;
  /** Adds tools as `namespace.tool`. @throws like `add` */
  registerTools(namespace: string, tools: Iterable<Tool>): void;
  /** Removes a tool; true when it existed. */
  remove(name: string): boolean;
  get(name: string): Tool | undefined;
  has(name: string): boolean;
  /** The same frozen array until something changes. */
  list(): readonly Tool[];
  /** The name of the tool that a model calls `wire`, which may also be the name itself. */
  fromWireName(wire: string): string | undefined;
}

/**
 * Makes a registry of tools.
 * @param where owner of the tools, for error messages, like `The agent "support"`.
 * @throws DuplicateToolError when two tools have the same name
 */
export function toolset(tools: Iterable<Tool> = [], where = 'The toolset'): Toolset {
  const registry = new ToolRegistry(where);
  registry.add(...tools);
  return registry;
}

/**
 * The same tools under `namespace.tool`; a name space may have dots itself.
 * @throws InvalidToolError when a name becomes impossible or too long
 */
function withNamespace(namespace: string, tools: Iterable<Tool>): readonly Tool[] {
  return Array.from(tools, (tool) => renameTool(tool, `${namespace}.${tool.name}`));
}

class ToolRegistry implements Toolset {
  readonly #where: string;
  #byName: ReadonlyMap<string, Tool> = new Map();
  #nameByWire: ReadonlyMap<string, string> = new Map();
  #list: readonly Tool[] | undefined;

  constructor(where: string) {
    this.#where = where;
  }

  get size(): number {
    return this.#byName.size;
  }

  add(...tools: readonly Tool[]): void {
    const byName = new Map(this.#byName);
    const nameByWire = new Map(this.#nameByWire);
    for (const tool of tools) {
      const wire = toolWireName(tool.name);
      const taken = nameByWire.get(wire);
      if (taken !== undefined)
        throw new DuplicateToolError({
          tool: tool.name,
          where: this.#where,
          ...(taken === tool.name ? {} : { taken }),
        });
      byName.set(tool.name, tool);
      nameByWire.set(wire, tool.name);
    }
    this.#change(byName, nameByWire);
  }

  registerTools(namespace: string, tools: Iterable<Tool>): void {
    this.add(...withNamespace(namespace, tools));
  }

  remove(name: string): boolean {
    if (!this.#byName.has(name)) return false;
    const byName = new Map(this.#byName);
    const nameByWire = new Map(this.#nameByWire);
    byName.delete(name);
    nameByWire.delete(toolWireName(name));
    this.#change(byName, nameByWire);
    return true;
  }

  get(name: string): Tool | undefined {
    return this.#byName.get(name);
  }

  has(name: string): boolean {
    return this.#byName.has(name);
  }

  list(): readonly Tool[] {
    this.#list ??= Object.freeze([...this.#byName.values()]);
    return this.#list;
  }

  fromWireName(wire: string): string | undefined {
    return this.#nameByWire.get(wire) ?? (this.#byName.has(wire) ? wire : undefined);
  }

  #change(byName: ReadonlyMap<string, Tool>, nameByWire: ReadonlyMap<string, string>): void {
    this.#byName = byName;
    this.#nameByWire = nameByWire;
    this.#list = undefined;
  }
}

const mostNamesListed = 30;
const longestNameShown = 80;

/**
 * Returns the message that a tool does not exist: the nearest name, and the existing tools (at most
 * 30).
 * @param isAgain true when the model has read the list before: it is left out
 */
export function unknownToolMessage(
  name: string,
  available: readonly string[],
  isAgain = false,
): string {
  const shown = name.length > longestNameShown ? `${name.slice(0, longestNameShown)}…` : name;
  const missing = `There is no tool named "${shown}"${isAgain ? ' either' : ''}.`;
  if (available.length === 0) return `${missing} No tools are available.`;
  const nearest = nearestName(name, available);
  const more =
    available.length > mostNamesListed ? ` and ${available.length - mostNamesListed} more` : '';
  const hint = nearest === undefined ? '' : ` Did you mean "${nearest}"?`;
  if (isAgain) return `${missing}${hint}`;
  return (
    `${missing}${hint} Available tools: ` +
    `${available.slice(0, mostNamesListed).join(', ')}${more}.`
  );
}
