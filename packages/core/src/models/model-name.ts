import { nearestName } from '../base/nearest-name.ts';
import { InvalidModelNameError } from './errors.ts';
import type { Model } from './model.ts';
import { claude } from './providers/claude.ts';
import { gemini } from './providers/gemini.ts';
import { keysOf } from './providers/keys.ts';
import { openai } from './providers/openai.ts';
import { openaiCompatible } from './providers/openai-compatible.ts';
import { rehearsal } from './rehearsal/model.ts';

/** Packages of the AI SDK with models of providers that have no names here. */
const packages: { readonly [provider: string]: string } = {
  bedrock: '@ai-sdk/amazon-bedrock',
  cerebras: '@ai-sdk/cerebras',
  cohere: '@ai-sdk/cohere',
  deepinfra: '@ai-sdk/deepinfra',
  deepseek: '@ai-sdk/deepseek',
  fireworks: '@ai-sdk/fireworks',
  groq: '@ai-sdk/groq',
  mistral: '@ai-sdk/mistral',
  perplexity: '@ai-sdk/perplexity',
  togetherai: '@ai-sdk/togetherai',
  xai: '@ai-sdk/xai',
};

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The forms of model names that `parseModelName` understands, with examples in place of the ids.
 */
const modelNameForms: readonly string[] = [
  'openai:gpt-5-mini',
  'gemini:gemini-3-flash-preview',
  'claude:claude-sonnet-4-5',
  'ollama:<model>',
  'openai-compatible:<model>@<base URL>',
  'rehearsal',
];

/**
 * For servers of `openai-compatible:` names only: the key of one provider must not go to another
 * one.
 */
const compatibleKey = 'OPENAI_COMPATIBLE_API_KEY';

const ollamaBaseUrl = 'http://127.0.0.1:11434/v1';

/** Reads the right side of a name; `undefined` when it does not have the provider's form. */
const providers: {
  readonly [name: string]: (rest: string, env: Environment | undefined) => Model | undefined;
} = {
  openai: (id, env) => openai(id, { env }),
  gemini: (id, env) => gemini(id, { env }),
  claude: (id, env) => claude(id, { env }),
  ollama: (id) => openaiCompatible({ name: 'ollama', model: id, baseURL: ollamaBaseUrl }),
  'openai-compatible': (rest, env) => {
    const [, model, baseURL] = /^(.+?)@(https?:\/\/.+)$/.exec(rest) ?? [];
    if (model === undefined || baseURL === undefined || !URL.canParse(baseURL)) return undefined;
    const apiKey = keysOf((env ?? process.env)[compatibleKey]);
    return openaiCompatible({ model, baseURL, ...(apiKey.length === 0 ? {} : { apiKey }) });
  },
};

/** Names that people try, and the provider they mean. */
const otherNames: { readonly [name: string]: string } = {
  anthropic: 'claude',
  google: 'gemini',
  vertex: 'gemini',
  azure: 'openai',
  gpt: 'openai',
};

/**
 * The model that a name stands for, such as `openai:gpt-5-mini` or `ollama:qwen3`; the error for
 * other names lists the forms. The key of an `openai-compatible` server is
 * `OPENAI_COMPATIBLE_API_KEY`.
 * @throws InvalidModelNameError
 */
export function parseModelName(text: string, env?: Environment): Model {
  const name = text.trim();
  if (name === 'rehearsal') return rehearsal();
  const colon = name.indexOf(':');
  const provider = colon < 0 ? name : name.slice(0, colon);
  const rest = colon < 0 ? '' : name.slice(colon + 1).trim();
  const parse = Object.hasOwn(providers, provider) ? providers[provider] : undefined;
  if (parse === undefined) throw invalidName(name, unknownProvider(provider, rest));
  if (rest === '') throw invalidName(name, { reason: `the model is missing after "${provider}:"` });
  if (mayHoldSecret(rest)) throw invalidName(name, { reason: secretReason });
  const model = parse(rest, env);
  if (model !== undefined) return model;
  throw invalidName(name, {
    reason:
      'after the model there must be "@" and the base URL of the server, such as ' +
      'http://127.0.0.1:8000/v1',
  });
}

/** Model used when only a provider's key is set. */
const firstChoices: readonly (readonly [variables: readonly string[], name: string])[] = [
  [['AZURE_OPENAI_ENDPOINT', 'AZURE_OPENAI_API_KEY'], 'openai:gpt-5-mini'],
  [['OPENAI_EU_API_KEY'], 'openai:gpt-5-mini'],
  [['OPENAI_API_KEY'], 'openai:gpt-5-mini'],
  [['GEMINI_API_KEY'], 'gemini:gemini-3-flash-preview'],
  [['GOOGLE_GENERATIVE_AI_API_KEY'], 'gemini:gemini-3-flash-preview'],
  [['ANTHROPIC_API_KEY'], 'claude:claude-sonnet-4-5'],
];

/**
 * Returns the model to use when none is named: `ADJUTANT_MODEL`, else one of the first provider
 * whose key is set (OpenAI, Gemini, Claude), else `undefined`.
 * @throws InvalidModelNameError when `ADJUTANT_MODEL` does not name a model
 */
export function modelFromEnvironment(env: Environment = process.env): Model | undefined {
  const named = env['ADJUTANT_MODEL'];
  if (named) return parseModelName(named, env);
  const choice = firstChoices.find(([variables]) => variables.every((variable) => env[variable]));
  return choice === undefined ? undefined : parseModelName(choice[1], env);
}

const secretReason =
  `an address must not carry a user name, a password, "?" or "#"; set the server's key as ` +
  `${compatibleKey} in the environment`;

interface Complaint {
  readonly reason: string;
  readonly nearest?: string;
  /** The package whose models can be given instead of a name. */
  readonly install?: string;
}

function invalidName(name: string, complaint: Complaint): InvalidModelNameError {
  const { nearest, ...told } = complaint;
  const shown = { name: withoutSecrets(name), ...told, forms: modelNameForms };
  return new InvalidModelNameError(
    nearest === undefined ? shown : { ...shown, nearest: withoutSecrets(nearest) },
  );
}

/**
 * True when the text behind the provider has an address that a password or a key may be part of.
 */
function mayHoldSecret(rest: string): boolean {
  const address = /https?:\/\/.*/i.exec(rest)?.[0];
  return address !== undefined && /[@?#]/.test(address);
}

/**
 * Returns a name that is safe to show. The text between "//", or the first "@", and the last "@" is
 * removed, and the text behind "?" or "#".
 */
function withoutSecrets(text: string): string {
  return text.replace(/(\/\/|@).*@/s, '$1…@').replace(/[?#].*/s, '?…');
}

function unknownProvider(provider: string, rest: string): Complaint {
  const reason =
    rest === '' ? 'it names no provider' : `"${withoutSecrets(provider)}" is not a provider`;
  const install = packageOf(provider);
  if (install !== undefined) return { reason, install };
  const slashed = rest === '' ? withColon(provider) : undefined;
  if (slashed !== undefined) return { reason, nearest: slashed };
  const vendor = rest === '' ? vendorOfModel(provider) : undefined;
  if (vendor !== undefined) return { reason, nearest: `${vendor}:${provider}` };
  const nearest = nearestProvider(provider);
  return nearest === undefined
    ? { reason }
    : { reason, nearest: nearest === 'rehearsal' ? nearest : `${nearest}:${rest || '<model>'}` };
}

/** Returns `openai:gpt-5` for `openai/gpt-5`, the form that other systems use. */
function withColon(name: string): string | undefined {
  const [, vendor = '', id] = /^([a-z-]+)\/(.+)$/.exec(name) ?? [];
  const provider = Object.hasOwn(otherNames, vendor) ? otherNames[vendor] : vendor;
  return provider !== undefined && Object.hasOwn(providers, provider)
    ? `${provider}:${id}`
    : undefined;
}

/** The package with the models of `mistral`, `mistral:…` or `mistral/…`. */
function packageOf(provider: string): string | undefined {
  const vendor = provider.split('/', 1)[0] ?? '';
  return Object.hasOwn(packages, vendor) ? packages[vendor] : undefined;
}

function vendorOfModel(id: string): string | undefined {
  if (/^(gpt-|o\d)/.test(id)) return 'openai';
  if (id.startsWith('gemini-')) return 'gemini';
  return id.startsWith('claude-') ? 'claude' : undefined;
}

function nearestProvider(text: string): string | undefined {
  const wanted = text.toLowerCase();
  const known = Object.hasOwn(otherNames, wanted) ? otherNames[wanted] : undefined;
  if (known !== undefined) return known;
  return nearestName(wanted, [...Object.keys(providers), 'rehearsal']);
}
