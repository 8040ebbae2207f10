import { defined } from '../base/defined.ts';
import { AdjutantError } from '../base/error.ts';
import { sha256 } from '../base/hash.ts';
import { deepFreeze, findJsonDefect, type JsonValue } from '../base/json.ts';
import { NotJsonError } from '../ledger/errors.ts';
import type { StateChange } from '../ledger/event.ts';
import type { StateValues } from '../ledger/folds/state-fold.ts';
import type { ChangeValue } from '../ledger/pending-write.ts';
import type { RefreshOptions, StateOf, StateSchema, UpdateOptions } from './state-types.ts';

/** A value that does not fit the schema of its key. */
export class InvalidStateError extends AdjutantError {
  constructor(data: { scope: string; key: string; reason: string }) {
    super(
      'invalid_state',
      `The value for "${data.key}" of the ${data.scope} state ` +
        `does not fit its schema: ${data.reason}.`,
      data,
    );
  }
}

/** The schema has a shared scope that the session was not opened with. */
export class UndeclaredScopeError extends AdjutantError {
  constructor(data: { scope: string }) {
    const { scope } = data;
    super(
      'undeclared_scope',
      `This session takes no part in the scope "${scope}". ` +
        `Open it with the id of one: scopes: { ${scope}: '…' }.`,
      data,
    );
  }
}

/** A write that is a function of the present value. */
export interface StateUpdate {
  readonly apply: ChangeValue;
  /** Name of the update, given by the code. */
  readonly id: string | undefined;
  /** Hash of the text of the function. */
  readonly source: string;
}

/** Reads and writes below the state of a session, step or tool. */
export interface StateAccess {
  /**
   * Names of the shared scopes that the session is bound to. More can be bound while it is open.
   */
  readonly sharedScopes: readonly string[];
  /** Values that code may keep between awaits at its own risk; they are never recorded. */
  readonly temp: Record<string, unknown>;
  /**
   * Reads the values of a scope.
   * @param key the only key that is read; default: all
   */
  read(scope: string, key?: string): StateValues;
  /**
   * Reads a value that is about to be overwritten; it does not count as read by the code.
   * @default read
   */
  peek?(scope: string): StateValues;
  /** True when an update counts also if it does not change the value that the code sees. */
  readonly recordsUpdates?: boolean;
  /**
   * Writes changes.
   * @param update makes the value of a single change anew, on top of another one
   */
  write(scope: string, changes: readonly StateChange[], update?: StateUpdate): void;
  /** Reads the shared scopes again. @default does nothing */
  refresh?(options?: RefreshOptions): Promise<void>;
}

type Changes = Readonly<Record<string, unknown>>;

/**
 * Makes state with property access. Reserved names are `update`, `refresh`, `temp` and the declared
 * scopes; they cannot be keys of session state. Values that are read are frozen: to change a part,
 * assign the whole value.
 */
export function createState<Schema extends StateSchema>(
  access: StateAccess,
  schema?: Schema,
): StateOf<Schema> {
  const made = new Map<string, object>();
  const sharedScope = (scope: string): object | undefined => {
    const isBound = access.sharedScopes.includes(scope);
    if (!isBound)
      return scope !== 'session' && schema !== undefined && Object.hasOwn(schema, scope)
        ? absentScope(scope)
        : undefined;
    const found = made.get(scope) ?? scopeProxy(access, scope, schema?.[scope], undefined);
    made.set(scope, found);
    return found;
  };
  return scopeProxy(access, 'session', schema?.['session'], sharedScope) as StateOf<Schema>;
}

/** Returns the state of a shared scope by its name, if there is such a scope. */
type FindScope = (scope: string) => object | undefined;

function scopeProxy(
  access: StateAccess,
  scope: string,
  schema: StateSchema[string] | undefined,
  findScope: FindScope | undefined,
): object {
  const target: Target = { access, scope, schema, findScope };
  const update = (
    first: unknown,
    change?: (value: unknown) => unknown,
    options?: UpdateOptions,
  ): void => {
    if (typeof first !== 'string' || change === undefined)
      return void writeChecked(target, first as Changes);
    const apply: ChangeValue = (value) => checkedCopy(target, first, change(value));
    const made = { apply, id: checkedId(target, first, options), source: sourceOf(change) };
    writeChecked(target, { [first]: change(ownValue(access.read(scope, first), first)) }, made);
  };
  const refresh = async (options?: RefreshOptions): Promise<void> => access.refresh?.(options);
  const reserved = (key: string): { value: unknown } | undefined => {
    if (key === 'update') return { value: update };
    if (findScope === undefined) return undefined;
    if (key === 'refresh') return { value: refresh };
    if (key === 'temp') return { value: access.temp };
    const inner = findScope(key);
    return inner === undefined ? undefined : { value: inner };
  };
  return new Proxy(Object.create(null) as object, {
    get: (_target, key) =>
      typeof key === 'symbol'
        ? undefined
        : (reserved(key)?.value ?? ownValue(access.read(scope, key), key)),
    set: (_target, key, value) => {
      if (typeof key === 'symbol') return false;
      writeChecked(target, { [key]: value });
      return true;
    },
    deleteProperty: (_target, key) => {
      if (typeof key === 'symbol') return false;
      writeChecked(target, { [key]: undefined });
      return true;
    },
    has: (_target, key) =>
      typeof key === 'string' &&
      (reserved(key) !== undefined || Object.hasOwn(access.read(scope, key), key)),
    ownKeys: () => Object.keys(access.read(scope)),
    getOwnPropertyDescriptor: (_target, key) => {
      const values = access.read(scope);
      if (typeof key === 'symbol' || !Object.hasOwn(values, key)) return undefined;
      return { value: values[key], writable: true, enumerable: true, configurable: true };
    },
  });
}

/** Makes a placeholder for a scope that the session does not have. Its first use throws. */
function absentScope(scope: string): object {
  const refuse = (_target: object, key?: PropertyKey): undefined => {
    if (typeof key === 'symbol') return undefined;
    throw new UndeclaredScopeError({ scope });
  };
  const traps = {
    get: refuse,
    set: refuse,
    has: refuse,
    deleteProperty: refuse,
    ownKeys: refuse,
    getOwnPropertyDescriptor: refuse,
  };
  return new Proxy(Object.create(null) as object, traps as unknown as ProxyHandler<object>);
}

function ownValue(values: StateValues, key: string): unknown {
  return Object.hasOwn(values, key) ? values[key] : undefined;
}

/** Target of a write. */
interface Target {
  readonly access: StateAccess;
  readonly scope: string;
  readonly schema: StateSchema[string] | undefined;
  /** The shared scopes beside the state; only for session state. */
  readonly findScope: FindScope | undefined;
}

/** Checks all changes before it writes any: invalid input changes nothing. */
function writeChecked(target: Target, changes: Changes, update?: StateUpdate): void {
  const { access, scope, findScope } = target;
  const values = access.peek?.(scope) ?? access.read(scope);
  const checked: StateChange[] = [];
  for (const [key, value] of Object.entries(changes)) {
    if (
      key === 'update' ||
      key === '__proto__' ||
      (findScope !== undefined &&
        (key === 'temp' || key === 'refresh' || findScope(key) !== undefined))
    ) {
      throw new InvalidStateError({ scope, key, reason: 'the name is reserved' });
    }
    const oldValue = ownValue(values, key) as JsonValue | undefined;
    const newValue = checkedCopy(target, key, value);
    if (oldValue === value && (update === undefined || access.recordsUpdates !== true)) continue;
    checked.push({
      key,
      ...defined({ oldValue, newValue }),
    });
  }
  if (checked.length > 0) access.write(scope, checked, update);
}

/** @throws InvalidStateError */
function checkedId(
  { scope }: Target,
  key: string,
  options: UpdateOptions | undefined,
): string | undefined {
  if (options === undefined) return undefined;
  const isPlain =
    typeof options === 'object' &&
    options !== null &&
    Object.keys(options).every((name) => name === 'id');
  if (!isPlain)
    throw new InvalidStateError({ scope, key, reason: 'the options of an update are { id }' });
  const { id } = options;
  if (id === undefined || (typeof id === 'string' && id !== '' && id.length <= longestId))
    return id;
  throw new InvalidStateError({
    scope,
    key,
    reason: `the id of an update must be a text of 1 to ${longestId} characters`,
  });
}

const longestId = 200;
/** Hashes of functions' texts: a program has few of them. */
const sources = new Map<string, string>();
const mostSources = 1_000;

function sourceOf(change: (value: unknown) => unknown): string {
  const text = String(change);
  const known = sources.get(text);
  if (known !== undefined) return known;
  if (sources.size >= mostSources) sources.clear();
  const source = sha256(text).slice(0, 12);
  sources.set(text, source);
  return source;
}

/** Copies a value, so that later changes of the caller's object do not change the record. */
function checkedCopy(
  { scope, schema }: Target,
  key: string,
  value: unknown,
): JsonValue | undefined {
  checkValue(scope, key, value, schema);
  return value === undefined ? undefined : deepFreeze(structuredClone(value) as JsonValue);
}

function checkValue(
  scope: string,
  key: string,
  value: unknown,
  schema: StateSchema[string] | undefined,
): void {
  if (value === undefined) return;
  const defect = findJsonDefect(value);
  if (defect !== undefined)
    throw new NotJsonError({ what: `The value for "${key}" of the ${scope} state`, ...defect });
  const field = schema?.[key];
  if (field === undefined) return;
  const result = field['~standard'].validate(value);
  if (result instanceof Promise)
    throw new InvalidStateError({
      scope,
      key,
      reason: 'its schema validates asynchronously, which state cannot wait for',
    });
  if (result.issues !== undefined)
    throw new InvalidStateError({
      scope,
      key,
      reason: result.issues.map((issue) => issue.message).join('; '),
    });
}
