import {
  findInvalidOption,
  isAnything,
  isFlag,
  isFunction,
  isGroup,
  isNonEmptyText,
  isObject,
  isOneOf,
  isPositive,
  isText,
  type OptionCheck,
  type OptionChecks,
} from '../base/options.ts';
import { retryChecks } from '../base/retry-options.ts';
import { isConvertedSchema } from '../base/schema.ts';
import { toolWireName } from '../ledger/tool-name.ts';
import type { StateSchema } from '../session/state-types.ts';
import { isListOfPermissions } from '../supervision/permission.ts';
import type { ToolCheck } from '../supervision/result-check.ts';
import { InvalidToolError } from './errors.ts';
import { isApproval, isRequest } from './request-options.ts';
import type { Tool, ToolFallback, ToolOptions } from './tool-definition.ts';

const namePattern = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/;

/** The longest name that every provider takes. */
const longestWireName = 64;

/** @throws InvalidToolError when a tool cannot have this name */
export function assertToolName(name: unknown): asserts name is string {
  if (typeof name !== 'string' || !namePattern.test(name)) {
    throw new InvalidToolError({
      tool: String(name),
      reason: 'a name consists of letters, digits, "_" or "-", with name spaces before dots',
    });
  }
  if (toolWireName(name).length > longestWireName) {
    throw new InvalidToolError({
      tool: name,
      reason: `a name has at most ${longestWireName} characters, a dot counting as two`,
    });
  }
}

type CheckedOptions = Pick<
  Tool,
  | 'timeoutMs'
  | 'execute'
  | 'readOnly'
  | 'destructive'
  | 'description'
  | 'onRepeat'
  | 'yieldSchema'
  | 'yieldOptions'
>;

const fallbackChecks: OptionChecks<ToolFallback> = { tool: isNonEmptyText, args: isFunction };
const checkChecks: OptionChecks<ToolCheck> = {
  empty: isFlag,
  query: isNonEmptyText,
  validate: isFunction,
};

const isFallback: OptionCheck = (value) => {
  if (typeof value === 'string') return isNonEmptyText(value);
  const expected =
    isGroup(fallbackChecks)(value) ?? isNonEmptyText((value as Partial<ToolFallback>).tool);
  return expected === undefined
    ? undefined
    : "the name of a tool, or { tool: 'its name', args: a function }";
};

/** Members that `tool` adds. A definition may be spread into the options of a new one. */
const addedMembers: OptionChecks<Pick<Tool, 'inputSchema' | 'yieldInputSchema'>> = {
  inputSchema: isConvertedSchema('schema'),
  yieldInputSchema: isAnything,
};

const toolChecks: OptionChecks<ToolOptions<unknown, unknown, unknown, StateSchema>> = {
  name: isAnything,
  description: isText,
  schema: isAnything,
  outputSchema: isAnything,
  stateSchema: isObject,
  timeoutMs: isPositive,
  retry: isGroup(retryChecks),
  fallback: isFallback,
  requiresPermission: isListOfPermissions,
  check: isGroup(checkChecks),
  classify: isFunction,
  version: isText,
  yieldSchema: isAnything,
  yieldOptions: isRequest,
  approval: isApproval,
  recovery: (value) =>
    typeof value === 'function'
      ? undefined
      : isOneOf('report', 'rerun', 'ask')(value) && "'report', 'rerun', 'ask' or a probe",
  onRepeat: isOneOf('confirm', 'refuse', 'allow'),
  readOnly: isFlag,
  idempotent: isFlag,
  destructive: isFlag,
  prepare: isFunction,
  execute: isFunction,
  finalize: isFunction,
};

/** @throws InvalidToolError when options are wrong or contradict each other */
export function assertConsistent(name: string, options: object): void {
  const { description, execute, readOnly, destructive, yieldSchema, yieldOptions } =
    options as Partial<CheckedOptions>;
  const refuse = (reason: string): never => {
    throw new InvalidToolError({ tool: name, reason });
  };
  // Options under another name come first: without them a required one seems to be missing.
  const derived = 'schema' in options && 'inputSchema' in options;
  const invalid = findInvalidOption(
    options,
    derived ? { ...toolChecks, ...addedMembers } : toolChecks,
  );
  if (invalid !== undefined) refuse(invalid.reason);
  if (typeof description !== 'string')
    refuse('`description` must be a string that tells the model when and how to use the tool');
  if (typeof execute !== 'function' && yieldSchema === undefined)
    refuse('`execute` must be a function, unless the tool has a `yieldSchema`');
  if (yieldOptions !== undefined && yieldSchema === undefined)
    refuse('`yieldOptions` says how input is asked for, so it needs a `yieldSchema`');
  const fallback = (options as { fallback?: string | ToolFallback }).fallback;
  if ((typeof fallback === 'string' ? fallback : fallback?.tool) === name)
    refuse('`fallback` names the tool itself');
  if (readOnly && destructive) refuse('`readOnly` and `destructive` contradict each other');
}
