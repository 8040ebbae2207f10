import type { Environment } from '../../host/host.ts';

/** A server that is not there, or does not answer at once, is not waited for. */
const longestMs = 500;
const usual = '127.0.0.1:11434';
const loopback: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]']);
const mostModels = 20;

/** Models of a server of Ollama on this machine. */
export interface LocalModels {
  readonly address: string;
  /** None when no server answers. */
  readonly names: readonly string[];
  /** Name of a model as `--model` takes it. */
  readonly modelName: (name: string) => string;
}

/** Asks the server of this machine, and no other one, for its models. */
export async function localModels(env: Environment): Promise<LocalModels> {
  const address = addressIn(env);
  const modelName = (name: string): string =>
    address === usual ? `ollama:${name}` : `openai-compatible:${name}@http://${address}/v1`;
  return { address, names: await namesAt(address), modelName };
}

/** The address that the server has: that of `OLLAMA_HOST` if it is one of this machine. */
function addressIn({ OLLAMA_HOST: given = '' }: Environment): string {
  const url = URL.parse(/^https?:/.test(given) ? given : `http://${given}`);
  if (url === null || !loopback.has(url.hostname)) return usual;
  return url.port === '' ? `${url.hostname}:11434` : url.host;
}

async function namesAt(address: string): Promise<readonly string[]> {
  try {
    const signal = AbortSignal.timeout(longestMs);
    const response = await fetch(`http://${address}/api/tags`, { signal, redirect: 'error' });
    const { models } = (await response.json()) as { readonly models?: unknown };
    return Array.isArray(models) ? models.slice(0, mostModels).flatMap(nameOf) : [];
  } catch {
    return [];
  }
}

function nameOf(model: unknown): string[] {
  const { name } = (model ?? {}) as { readonly name?: unknown };
  // A name goes into the name of a model, and onto the screen.
  return typeof name === 'string' && /^[\w./:-]+$/.test(name) ? [name.replace(/:latest$/, '')] : [];
}
