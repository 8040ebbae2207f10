import {
  findInvalidOption,
  isAnything,
  isCount,
  isFunction,
  isGroup,
  isListOfText,
  isNonEmptyText,
  isNotNegative,
  isNumber,
  isObject,
  isPositive,
  type OptionCheck,
  type OptionChecks,
} from '../base/options.ts';
import { retryChecks } from '../base/retry-options.ts';
import { InvalidModelError } from './errors.ts';
import type { Price } from './model.ts';
import type { ProviderSettings } from './providers/lazy-model.ts';

const priceOptions: OptionChecks<Price> = {
  input: isNotNegative,
  output: isNotNegative,
  cachedInput: isNotNegative,
  cacheWrite: isNotNegative,
};

function isPrice(value: unknown): string | undefined {
  const wrong = isGroup(priceOptions)(value);
  if (wrong !== undefined) return wrong;
  const { input, output } = value as Partial<Price>;
  return input === undefined || output === undefined
    ? 'an object with `input` and `output`, US dollars for a million tokens'
    : undefined;
}

/** Options of every provider. Secrets are checked separately, by `checkSettings`. */
export const providerOptions: OptionChecks<ProviderSettings> = {
  temperature: isNotNegative,
  maxTokens: isCount,
  topP: isNotNegative,
  topK: isNumber,
  presencePenalty: isNumber,
  frequencyPenalty: isNumber,
  stopSequences: isListOfText,
  seed: isNumber,
  retry: isAnything,
  timeoutMs: isPositive,
  providerOptions: isObject,
  apiKey: isAnything,
  price: isPrice,
  contextWindow: isCount,
  countTokens: isFunction,
  fetch: isFunction,
  env: isObject,
};

/**
 * The checks of settings. Groups are checked one by one, so that the message can name the inner
 * option and its value.
 */
export interface SettingChecks<Settings> {
  readonly options: OptionChecks<Settings>;
  readonly groups?: { readonly [Key in keyof Settings]?: OptionChecks<NonNullable<Settings[Key]>> };
}

/** Values that may hold a secret: their faults are described without showing them. */
const secrets: { readonly [option: string]: OptionCheck } = {
  apiKey: isKeys,
  headers: isHeaders,
  baseUrl: isBaseUrl,
  baseURL: isBaseUrl,
};

/**
 * Checks the settings of a model: their names and their values.
 * @throws InvalidModelError
 */
export function checkSettings<Settings extends object>(
  model: string,
  settings: Settings,
  { options, groups = {} }: SettingChecks<Settings>,
): void {
  const given = settings as Readonly<Record<string, unknown>>;
  refuse(model, '', findInvalidOption(settings, options)?.reason);
  checkSecrets(model, '', given);
  for (const [group, checks] of Object.entries({ retry: retryChecks, ...groups })) {
    if (given[group] !== undefined)
      refuse(
        model,
        `\`${group}\`: `,
        findInvalidOption(given[group], checks as OptionChecks<object>)?.reason,
      );
  }
}

/** Checks the settings of a group that may be secret. @throws InvalidModelError */
export function checkSecrets(model: string, place: string, settings: object): void {
  for (const [option, value] of Object.entries(settings)) {
    const expected =
      value === undefined || !Object.hasOwn(secrets, option) ? undefined : secrets[option]?.(value);
    refuse(model, place, expected && `\`${option}\` must be ${expected}`);
  }
}

/** @throws InvalidModelError when there is a reason */
export function refuse(model: string, place: string, reason: string | undefined): void {
  if (reason !== undefined) throw new InvalidModelError({ model, reason: `${place}${reason}` });
}

/** @throws InvalidModelError when the id is missing */
export function checkModelId(provider: string, modelId: unknown, example: string): void {
  if (isNonEmptyText(modelId) !== undefined)
    refuse(
      provider,
      '',
      `the id of the model comes first, as a string that is not empty: ${example}`,
    );
}

function isKeys(value: unknown): string | undefined {
  if (typeof value === 'string') return undefined;
  const areKeys =
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((key) => typeof key === 'string' && key !== '');
  return areKeys ? undefined : 'a string, or a list of strings that are not empty';
}

function isHeaders(value: unknown): string | undefined {
  const areTexts =
    isObject(value) === undefined &&
    Object.values(value as object).every(
      (header) => header === undefined || typeof header === 'string',
    );
  return areTexts ? undefined : 'an object of strings';
}

/**
 * Checks a base URL. It goes into messages and ledgers, and requests append to it, so it has
 * neither credentials nor a query.
 */
export function isBaseUrl(value: unknown): string | undefined {
  const url = typeof value === 'string' ? URL.parse(value) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    return 'a URL that begins with http:// or https://';
  if (url.username !== '' || url.password !== '')
    return (
      'a URL without user name and password: pass the key as `apiKey`, or by an environment ' +
      'variable'
    );
  if (url.search !== '' || url.hash !== '')
    return (
      'a URL without "?" and "#": paths are appended to it, and a key is passed as `apiKey`, ' +
      'or by an environment variable'
    );
  return undefined;
}
