import { checkOptions } from '../../base/invalid-option.ts';
import { isPlainObject, type JsonValue, setOwn } from '../../base/json.ts';
import { isFunction, isListOf, type OptionCheck, type OptionChecks } from '../../base/options.ts';
import type {
  Guardrail,
  GuardrailVerdict,
  InputCheck,
  OutputCheck,
  ToolCallCheck,
  ToolResultCheck,
} from '../guardrail.ts';
import {
  isCardNumber,
  type PersonalDataKind,
  personalDataKinds,
  redactText,
} from './personal-data.ts';

export interface RedactPersonalDataOptions {
  /** @default all: ['email', 'iban', 'creditCard', 'ssn', 'ipAddress', 'phone'] */
  readonly kinds?: readonly PersonalDataKind[];
  /**
   * Points at which it is removed. At `toolCall` tools do not get it either. @default ['input',
   * 'output', 'toolResult']
   */
  readonly at?: readonly ('input' | 'output' | 'toolCall' | 'toolResult')[];
  /** Text in its place. @default `[email]`, `[phone]`, … */
  readonly replacement?: (kind: PersonalDataKind) => string;
}

/** With an empty list it would look like protection and be none. */
function isSomeOf(...choices: readonly string[]): OptionCheck {
  return (value) =>
    isListOf(...choices)(value) ??
    ((value as readonly unknown[]).length > 0
      ? undefined
      : `a list of at least one of ${choices.join(', ')}`);
}

const optionChecks: OptionChecks<RedactPersonalDataOptions> = {
  kinds: isSomeOf(...personalDataKinds),
  at: isSomeOf('input', 'output', 'toolCall', 'toolResult'),
  replacement: isFunction,
};

/**
 * Removes personal data from input and output: e-mail addresses, phone numbers, IP addresses, US
 * social security numbers, and card numbers and IBANs whose check digits fit. It knows them by
 * their form, so it finds no names and no postal addresses. Of a result only the content is
 * changed.
 * @throws InvalidOptionError
 */
export function redactPersonalData(options: RedactPersonalDataOptions = {}): Guardrail {
  checkOptions('redactPersonalData', options, optionChecks);
  const { at = ['input', 'output', 'toolResult'], replacement = (kind) => `[${kind}]` } = options;
  const wanted = options.kinds ?? personalDataKinds;
  const kinds = personalDataKinds.filter((kind) => wanted.includes(kind));
  const look = (value: JsonValue): GuardrailVerdict<'input'> | undefined => {
    const redaction = new Redaction(kinds, replacement);
    const redacted = redaction.redact(value);
    if (redaction.counts.size === 0) return undefined;
    const found = [...redaction.counts].map(([kind, count]) => `${kind} (${count})`).join(', ');
    return {
      action: 'transform',
      value: redacted,
      reasoning: `Personal data was taken out: ${found}.`,
    };
  };
  return Object.freeze({
    name: 'redactPersonalData',
    ...(at.includes('input') && { input: ({ text }: InputCheck) => look(text) }),
    ...(at.includes('output') && { output: ({ text }: OutputCheck) => look(text) }),
    ...(at.includes('toolCall') && { toolCall: ({ args }: ToolCallCheck) => look(args) }),
    ...(at.includes('toolResult') && {
      toolResult: ({ result }: ToolResultCheck) => look(result.content),
    }),
  });
}

class Redaction {
  readonly counts = new Map<PersonalDataKind, number>();
  readonly #kinds: readonly PersonalDataKind[];
  readonly #replacement: (kind: PersonalDataKind) => string;

  constructor(kinds: readonly PersonalDataKind[], replacement: (kind: PersonalDataKind) => string) {
    this.#kinds = kinds;
    this.#replacement = replacement;
  }

  redact(value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.#text(value);
    if (typeof value === 'number') return this.#number(value);
    if (Array.isArray(value)) return value.map((part: JsonValue) => this.redact(part));
    return isPlainObject(value)
      ? this.#object(value as Readonly<Record<string, JsonValue | undefined>>)
      : value;
  }

  #text(text: string): string {
    return redactText(text, this.#kinds, this.#replacement, (kind) => this.#count(kind));
  }

  #number(value: number): JsonValue {
    if (
      !this.#kinds.includes('creditCard') ||
      !Number.isSafeInteger(value) ||
      !isCardNumber(String(value))
    )
      return value;
    this.#count('creditCard');
    return this.#replacement('creditCard');
  }

  /**
   * Keys too: a list of people by their addresses has them there. Those that become the same are
   * numbered, so that nothing is lost.
   */
  #object(value: Readonly<Record<string, JsonValue | undefined>>): JsonValue {
    const redacted: Record<string, JsonValue> = {};
    const numbers = new Map<string, number>();
    for (const [key, part] of Object.entries(value)) {
      if (part === undefined) continue;
      let name = this.#text(key);
      if (name !== key) {
        const number = (numbers.get(name) ?? 0) + 1;
        numbers.set(name, number);
        name = `${name} ${number}`;
      }
      setOwn(redacted, name, this.redact(part));
    }
    return redacted;
  }

  #count(kind: PersonalDataKind): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
  }
}
