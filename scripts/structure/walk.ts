import { AsyncLocalStorage } from 'node:async_hooks';
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Store } from 'adjutant';
import type { LedgerStore } from 'adjutant/store';
import { type Node, parseSync, visitorKeys } from 'oxc-parser';

/** A function of core that is on the way, and the one that called it. */
interface Step {
  readonly file: string;
  readonly caller: Step | undefined;
}

/** The way of one message. */
export interface Walk {
  /** Files of core whose functions lead from `app.run` to the model and to the store. */
  readonly files: readonly string[];
  /**
   * Calls from a wing of the engine into one above it that go through no named port: `from → to`.
   * All calls of the run count, not only those on the way.
   */
  readonly climbs: readonly string[];
}

type Enter = <Result>(file: string, name: string, body: () => Result) => Result;
type Instrumented = typeof globalThis & { __enter?: Enter };

/**
 * Ports by which a wing speaks to one above it: `RunContext.runBody`, since the invoke rule lies
 * below the bodies that it invokes; `OpenSession`, since only the app knows its sessions;
 * `Activity.onStandstill` and `RunContext.emit`, which tell what has happened.
 */
const ports: ReadonlySet<string> = new Set([
  'engine/invoke/invoke.ts → engine/run/bodies.ts',
  'engine/run/starter.ts → engine/app/tenant-app.ts',
  'engine/frame/activity.ts → engine/run/standstill.ts',
  'engine/frame/run-context.ts → engine/run/taken-over.ts',
]);

/** Wings from the lowest to the highest. */
const wings = [
  'engine/frame/',
  'engine/invoke/',
  'engine/agent/',
  'engine/run/',
  'engine/app/',
  'runtime.ts',
];

/**
 * Follows `app.run(agent, 'hi')` through the sources of core. Each function notes its caller, across
 * `await` and callbacks. The way is read off where the model is called and where the store is
 * written, so that a function which is only asked for something on the way does not count.
 */
export async function walkOfRun(sourceFolder: string): Promise<Walk> {
  const steps = new AsyncLocalStorage<Step>();
  const passed = new Set<string>();
  const climbs = new Set<string>();
  (globalThis as Instrumented).__enter = (file, name, body) =>
    steps.run({ file, caller: steps.getStore() }, () => {
      const from = steps.getStore()?.caller?.file;
      if (isClimb(from, file)) climbs.add(`${from} → ${file}`);
      if (file === 'ledger/ledger.ts' && name === 'append') arrive();
      return body();
    });
  const hooks = registerHooks({
    load: (url, context, next) => {
      const path = url.startsWith('file:') ? fileURLToPath(url) : '';
      const isOnTheWay = path.startsWith(sourceFolder) && !/\/(testing|stores|base)\//.test(path);
      if (!isOnTheWay) return next(url, context);
      const source = instrumented(path, path.slice(sourceFolder.length));
      return { format: 'module-typescript', source, shortCircuit: true };
    },
  });
  const arrive = (): void => {
    for (let step = steps.getStore(); step !== undefined; step = step.caller) passed.add(step.file);
  };
  await runOnce(arrive);
  hooks.deregister();
  return { files: [...passed].sort(), climbs: [...climbs].sort() };
}

function isClimb(from: string | undefined, to: string): boolean {
  const wingOf = (file: string): number => wings.findIndex((wing) => file.startsWith(wing));
  if (from === undefined || ports.has(`${from} → ${to}`)) return false;
  return wingOf(from) >= 0 && wingOf(to) > wingOf(from);
}

async function runOnce(arrive: () => void): Promise<void> {
  const { agent, memoryStore, runtime } = await import('adjutant');
  const { scriptedModel } = await import('adjutant/testing');
  const model = scriptedModel(() => {
    arrive();
    return { text: 'Hello.' };
  });
  const greeter = agent({ name: 'greeter', model });
  const store = watched(memoryStore(), arrive);
  const app = runtime({ app: 'structure', store, runnables: [greeter], recover: 'manual' });
  await app.run(greeter, 'hi');
  await app.close();
}

/** A store that tells when it is written. */
function watched(store: Store, onAppend: () => void): Store {
  return {
    ...store,
    for: (scope) =>
      new Proxy(store.for(scope), {
        get(ledgers, name: keyof LedgerStore) {
          if (name === 'append') {
            return (...args: Parameters<LedgerStore['append']>) => {
              onAppend();
              return ledgers.append(...args);
            };
          }
          const method = ledgers[name] as unknown;
          return typeof method === 'function' ? (method.bind(ledgers) as unknown) : method;
        },
      }),
  };
}

interface FunctionNode {
  readonly type: string;
  readonly async: boolean;
  readonly generator: boolean;
  readonly body: { readonly type: string; readonly start: number; readonly end: number } | null;
}

/** Source text in which each function runs its body within a step of the way. */
function instrumented(path: string, file: string): string {
  const text = readFileSync(path, 'utf8');
  const insertions: { readonly at: number; readonly text: string }[] = [];
  const visit = (node: Node, method: string): void => {
    const { async: isAsync, body, generator, type } = node as FunctionNode;
    const isBody = body?.type === 'BlockStatement';
    const isFunction = /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/;
    if (isFunction.test(type) && isBody && !generator && method !== 'constructor') {
      const names = `${JSON.stringify(file)}, ${JSON.stringify(method)}`;
      insertions.push({
        at: body.start + 1,
        text: `return globalThis.__enter(${names}, ${isAsync ? 'async ' : ''}() => {`,
      });
      insertions.push({ at: body.end - 1, text: '});' });
    }
    const { key: named } = node as { readonly key?: { readonly name?: string } };
    const name = type === 'MethodDefinition' ? (named?.name ?? '') : '';
    for (const key of visitorKeys[node.type] ?? []) {
      const child = (node as unknown as Record<string, unknown>)[key];
      for (const one of Array.isArray(child) ? child : [child])
        if (typeof one === 'object' && one !== null) visit(one as Node, name);
    }
  };
  visit(parseSync(path, text).program as unknown as Node, '');
  let made = text;
  // From the end on; in an empty body the end comes first, so that it lies behind the beginning.
  insertions.reverse().sort((left, right) => right.at - left.at);
  for (const { at, text: inserted } of insertions)
    made = made.slice(0, at) + inserted + made.slice(at);
  return made;
}
