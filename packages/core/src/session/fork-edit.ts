import { findJsonDefect, type JsonValue } from '../base/json.ts';
import { isGroup, isNonEmptyText, type OptionCheck, type OptionChecks } from '../base/options.ts';
import { blobThresholdBytes } from '../ledger/blobs/blob.ts';

/** Edit of one value of the state. It has `value`, or `delete`. */
export interface StateEdit {
  /**
   * Scope of the key. A shared scope can be edited in a fork that is isolated.
   * @default 'session'
   */
  readonly scope?: string;
  readonly key: string;
  readonly value?: JsonValue;
  readonly delete?: true;
}

/** Edit of the prompts of a fork. */
export interface PromptEdit {
  /**
   * Name of the agent whose instructions are edited.
   * @default the agent that acted last in the shared part
   */
  readonly agent?: string;
  /** Text in the place of the `instructions` of the agent, in all prompts of the fork. */
  readonly instructions?: string;
  /** Text in the place of the last message of the user. Its run has not ended. */
  readonly message?: string;
}

/** Changes with which a fork begins. They are events of the fork. */
export interface ForkEdit {
  readonly state?: readonly StateEdit[];
  readonly prompt?: PromptEdit;
}

/** Most bytes of JSON of one edited value or text; most edits of the state. */
const mostBytes = blobThresholdBytes;
const mostEdits = 100;
const tooLong = `shorter than ${mostBytes / 1024} KiB of JSON`;

const isShort = (value: unknown): boolean =>
  Buffer.byteLength(JSON.stringify(value) ?? '') <= mostBytes;

const isEditedText: OptionCheck = (value) =>
  isNonEmptyText(value) ?? (isShort(value) ? undefined : tooLong);

const isEditedValue: OptionCheck = (value) => {
  const defect = findJsonDefect(value);
  if (defect !== undefined) return `JSON, and ${defect.path} is ${defect.found}`;
  return isShort(value) ? undefined : tooLong;
};

const stateChecks: OptionChecks<StateEdit> = {
  scope: (value) =>
    isNonEmptyText(value) ??
    (value === 'temp' ? 'a scope that is recorded, which `temp` is not' : undefined),
  key: isNonEmptyText,
  value: isEditedValue,
  delete: (value) => (value === true ? undefined : 'true'),
};

const promptChecks: OptionChecks<PromptEdit> = {
  agent: isNonEmptyText,
  instructions: isEditedText,
  message: isEditedText,
};

const editChecks: OptionChecks<ForkEdit> = {
  state: (value) => {
    if (!Array.isArray(value)) return 'a list of edits { key, value } or { key, delete: true }';
    if (value.length > mostEdits) return `at most ${mostEdits} edits`;
    return value.map(stateEditFault).find((fault) => fault !== undefined) ?? repeatedKey(value);
  },
  prompt: (value) => {
    const fault = isGroup(promptChecks)(value);
    if (fault !== undefined) return fault;
    const { agent, instructions, message } = value as PromptEdit;
    if (instructions === undefined && message === undefined)
      return 'an edit with `instructions`, a `message`, or both';
    return agent !== undefined && instructions === undefined
      ? 'without `agent`, which is for `instructions`'
      : undefined;
  },
};

/** Requirement on the edits of a fork. */
export const isForkEdit: OptionCheck = isGroup(editChecks);

function stateEditFault(edit: unknown, index: number): string | undefined {
  const fault = isGroup(stateChecks)(edit);
  if (fault !== undefined) return `a list, and edit ${index} must be ${fault}`;
  const { key, value, delete: isDeleted } = edit as StateEdit;
  if (key === undefined) return `a list, and edit ${index} needs a \`key\``;
  return (value === undefined) === (isDeleted === undefined)
    ? `a list, and edit ${index} needs either a \`value\` or \`delete: true\``
    : undefined;
}

function repeatedKey(edits: readonly StateEdit[]): string | undefined {
  const names = edits.map(({ scope = 'session', key }) => JSON.stringify([scope, key]));
  const place = names.findIndex((name, index) => names.indexOf(name) < index);
  return place < 0
    ? undefined
    : `a list that edits each key once, and edit ${place} is another one`;
}
