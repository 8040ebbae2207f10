import { AdjutantError } from '../base/error.ts';
import { deepFreeze, findJsonDefect, type JsonValue } from '../base/json.ts';
import { NotJsonError } from './errors.ts';
import type { StateChange } from './event.ts';
import type { StateValues } from './state-fold.ts';
import type { StateOf, StateSchema } from './state-types.ts';

/** A value that the schema of its key refuses. */
export class InvalidStateError extends AdjutantError {
  constructor(data: { scope: string; key: string; reason: string }) {
    super('invalid_state', `The value for "${data.key}" of the ${data.scope} state does not fit its schema: ${data.reason}.`, data);
  }
}

/** The schema has a shared scope that the session was not opened with. */
export class UndeclaredScopeError extends AdjutantError {
  constructor(data: { scope: string }) {
    const { scope } = data;
    super('undeclared_scope', `This session takes no part in the scope "${scope}". Open it with the id of one: scopes: { ${scope}: '…' }.`, data);
  }
}

/** What the state of a session, step or tool reads from and writes to. */
export interface StateAccess {
  /** Names of the shared scopes that the session declares. */
  readonly sharedScopes: readonly string[];
  /** Values that code may keep between awaits at its own risk; never recorded. */
  readonly temp: Record<string, unknown>;
  /** @param key the only key that is looked at @default all */
  read(scope: string, key?: string): StateValues;
  /** What is written over, which the code need not have looked at. @default read */
  peek?(scope: string): StateValues;
  write(scope: string, changes: readonly StateChange[]): void;
}

type Changes = Readonly<Record<string, unknown>>;

/**
 * State by property access. Reserved names are `update`, `temp` and the declared scopes; they cannot be keys of session state.
 * Values that are read are frozen: to change a part, assign the whole.
 */
export function createState<Schema extends StateSchema>(access: StateAccess, schema?: Schema): StateOf<Schema> {
  const scopes = new Map<string, object>();
  for (const scope of access.sharedScopes) scopes.set(scope, scopeProxy(access, scope, schema?.[scope], undefined));
  for (const scope in schema) if (scope !== 'session' && scope !== 'temp' && !scopes.has(scope)) scopes.set(scope, absentScope(scope));
  return scopeProxy(access, 'session', schema?.['session'], scopes) as StateOf<Schema>;
}

function scopeProxy(
  access: StateAccess,
  scope: string,
  schema: StateSchema[string] | undefined,
  scopes: ReadonlyMap<string, object> | undefined,
): object {
  const update = (first: unknown, change?: (value: unknown) => unknown): void => {
    const changes: Changes =
      typeof first === 'string' && change !== undefined ? { [first]: change(ownValue(access.read(scope, first), first)) } : (first as Changes);
    writeChecked(access, scope, schema, changes, scopes);
  };
  const reserved = (key: string): { value: unknown } | undefined => {
    if (key === 'update') return { value: update };
    if (scopes === undefined) return undefined;
    if (key === 'temp') return { value: access.temp };
    const inner = scopes.get(key);
    return inner === undefined ? undefined : { value: inner };
  };
  return new Proxy(Object.create(null) as object, {
    get: (_target, key) => (typeof key === 'symbol' ? undefined : (reserved(key)?.value ?? ownValue(access.read(scope, key), key))),
    set: (_target, key, value) => {
      if (typeof key === 'symbol') return false;
      writeChecked(access, scope, schema, { [key]: value }, scopes);
      return true;
    },
    deleteProperty: (_target, key) => {
      if (typeof key === 'symbol') return false;
      writeChecked(access, scope, schema, { [key]: undefined }, scopes);
      return true;
    },
    has: (_target, key) => typeof key === 'string' && (reserved(key) !== undefined || Object.hasOwn(access.read(scope, key), key)),
    ownKeys: () => Object.keys(access.read(scope)),
    getOwnPropertyDescriptor: (_target, key) => {
      const values = access.read(scope);
      if (typeof key === 'symbol' || !Object.hasOwn(values, key)) return undefined;
      return { value: values[key], writable: true, enumerable: true, configurable: true };
    },
  });
}

/** Stands in for a scope that the session has not, and says so as soon as it is used. */
function absentScope(scope: string): object {
  const refuse = (_target: object, key?: PropertyKey): undefined => {
    if (typeof key === 'symbol') return undefined;
    throw new UndeclaredScopeError({ scope });
  };
  const traps = { get: refuse, set: refuse, has: refuse, deleteProperty: refuse, ownKeys: refuse, getOwnPropertyDescriptor: refuse };
  return new Proxy(Object.create(null) as object, traps as unknown as ProxyHandler<object>);
}

function ownValue(values: StateValues, key: string): unknown {
  return Object.hasOwn(values, key) ? values[key] : undefined;
}

/** Checks all changes before it writes any: bad input changes nothing. */
function writeChecked(
  access: StateAccess,
  scope: string,
  schema: StateSchema[string] | undefined,
  changes: Changes,
  scopes: ReadonlyMap<string, object> | undefined,
): void {
  const values = access.peek?.(scope) ?? access.read(scope);
  const checked: StateChange[] = [];
  for (const [key, value] of Object.entries(changes)) {
    if (key === 'update' || (scopes !== undefined && (key === 'temp' || scopes.has(key)))) {
      throw new InvalidStateError({ scope, key, reason: 'the name is reserved' });
    }
    checkValue(scope, key, value, schema);
    const oldValue = ownValue(values, key) as JsonValue | undefined;
    if (oldValue === value) continue;
    // The value is copied, so that what the caller does with its object afterwards cannot change what was recorded.
    const newValue = value === undefined ? undefined : deepFreeze(structuredClone(value) as JsonValue);
    checked.push({ key, ...(oldValue === undefined ? {} : { oldValue }), ...(newValue === undefined ? {} : { newValue }) });
  }
  if (checked.length > 0) access.write(scope, checked);
}

function checkValue(scope: string, key: string, value: unknown, schema: StateSchema[string] | undefined): void {
  if (value === undefined) return;
  const defect = findJsonDefect(value);
  if (defect !== undefined) throw new NotJsonError({ what: `The value for "${key}" of the ${scope} state`, ...defect });
  const field = schema?.[key];
  if (field === undefined) return;
  const result = field['~standard'].validate(value);
  if (result instanceof Promise)
    throw new InvalidStateError({ scope, key, reason: 'its schema validates asynchronously, which state cannot wait for' });
  if (result.issues !== undefined) throw new InvalidStateError({ scope, key, reason: result.issues.map((issue) => issue.message).join('; ') });
}
