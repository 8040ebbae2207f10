import {
  type ApiKey,
  type ApiKeys,
  apiKeys,
  type IssuedApiKey,
  type NewApiKey,
  type Role,
} from '@adjutant/server';
import { type Runtime, runtime } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { defined } from 'adjutant/text';
import { keepsInMemory } from '../app/durable-store.ts';
import { exitCodes, UsageError } from '../failure.ts';
import type { Host } from '../host/host.ts';
import { ownCommand } from '../host/own-name.ts';
import { readableStorePath, writableStorePath } from '../host/store-location.ts';
import type { SourceOptions } from '../modules/ledger-source.ts';
import { loadApp, shownName } from '../modules/load-module.ts';
import { formatTime } from '../output/format.ts';
import { jsonLine } from '../output/json-output.ts';
import { notice } from '../output/notice.ts';
import { plainLine } from '../output/plain-text.ts';
import { styleFor } from '../output/style.ts';
import { tableLines } from '../output/table.ts';

export interface KeysOptions extends SourceOptions {
  readonly json?: boolean;
}

export interface CreateKeyOptions extends KeysOptions {
  readonly name: string;
  readonly role: readonly string[];
  readonly tenant?: string;
  readonly user?: string;
  readonly agent?: readonly string[];
  /** Milliseconds until the key expires. */
  readonly expires?: number;
}

export interface ListKeysOptions extends KeysOptions {
  readonly tenant?: string;
}

export interface RotateKeyOptions extends KeysOptions {
  /** Milliseconds for which the previous secret is still accepted. */
  readonly grace?: number;
  /** Milliseconds until the key expires. */
  readonly expires?: number;
}

/** `adjutant keys create`: makes an API key and shows its credential. */
export function createKey(host: Host, options: CreateKeyOptions): Promise<number> {
  return withKeys(host, options, 'make', async (keys) => {
    const { name, role, tenant, user, agent, expires } = options;
    const asked: NewApiKey = {
      ...{ name, roles: role as readonly Role[] },
      ...defined({ tenant, user, agents: agent, expiresInMs: expires }),
    };
    showIssued(host, options, await keys.create(asked));
  });
}

/** `adjutant keys list`: lists the API keys. */
export function listKeys(host: Host, options: ListKeysOptions): Promise<number> {
  return withKeys(host, options, 'look', async (keys) => {
    const found = await keys.list(defined({ tenant: options.tenant }));
    if (options.json) for (const key of found) host.stdout.write(jsonLine(key));
    else if (found.length === 0)
      host.stdout.write(
        `There are no API keys. Make one: ${ownCommand('keys create --name ci --role operator')}\n`,
      );
    else showTable(host, found);
  });
}

/** `adjutant keys revoke <id>`: revokes an API key. */
export function revokeKey(host: Host, id: string, options: KeysOptions): Promise<number> {
  return withKeys(host, options, 'change', async (keys) => {
    const key = await keys.revoke(id);
    host.stdout.write(
      options.json
        ? jsonLine(key)
        : `The API key ${plainLine(key.id)} (${plainLine(key.name)}) is revoked. No server ` +
            `accepts it any more.\n`,
    );
  });
}

/** `adjutant keys rotate <id>`: gives an API key a new secret. */
export function rotateKey(host: Host, id: string, options: RotateKeyOptions): Promise<number> {
  return withKeys(host, options, 'change', async (keys) => {
    const { grace, expires } = options;
    const issued = await keys.rotate(id, defined({ graceMs: grace, expiresInMs: expires }));
    showIssued(host, options, issued);
  });
}

/**
 * Prints the credential alone on stdout, so that it can be piped to a secret store. It is shown
 * nowhere else.
 */
function showIssued(host: Host, { json }: KeysOptions, { key, credential }: IssuedApiKey): void {
  host.stdout.write(json ? jsonLine({ key, credential }) : `${credential}\n`);
  if (json) return;
  const isPreviousOver = (key.previousUntil ?? 0) <= host.clock.now();
  const previous =
    key.previousUntil === undefined || isPreviousOver
      ? ''
      : ` The secret before is accepted until ${formatTime(key.previousUntil)}.`;
  notice(
    host,
    `This is the API key ${key.id} (${key.name}), as ${scopeOf(key)}, until ` +
      `${formatTime(key.expiresAt)}. It is shown only now.${previous}`,
  );
}

function scopeOf({ tenant, roles, user, agents }: ApiKey): string {
  const bound = [
    ...(user === undefined ? [] : [`user ${user}`]),
    ...(agents === undefined ? [] : [`agents ${agents.join(', ')}`]),
  ];
  return [`${roles.join(' and ')} of the tenant ${tenant}`, ...bound].join(', ');
}

function showTable(host: Host, keys: readonly ApiKey[]): void {
  const style = styleFor(host.stdout);
  const now = host.clock.now();
  const rows = keys.map((key) => [
    key.id,
    plainLine(key.name),
    plainLine(scopeOf(key)),
    stateOf(key, now),
    formatTime(key.expiresAt),
  ]);
  const [head = '', ...lines] = tableLines(['KEY', 'NAME', 'MAY ACT AS', 'STATE', 'EXPIRES'], rows);
  host.stdout.write(`${[style.bold(head), ...lines].join('\n')}\n`);
}

function stateOf({ revokedAt, expiresAt }: ApiKey, now: number): string {
  if (revokedAt !== undefined) return 'revoked';
  return expiresAt <= now ? 'expired' : 'valid';
}

type Purpose = 'make' | 'look' | 'change';

async function withKeys(
  host: Host,
  options: KeysOptions,
  purpose: Purpose,
  use: (keys: ApiKeys) => Promise<void>,
): Promise<number> {
  const configured = await loadApp(host, options);
  let app: Runtime | undefined;
  try {
    app =
      configured === undefined
        ? ownApp(host, options, purpose)
        : servedApp(host, options, configured.app, shownName(configured));
    await use(apiKeys(app));
    return exitCodes.ok;
  } finally {
    await app?.close().catch(() => undefined);
    if (configured !== undefined && configured.app !== app)
      await configured.app.close().catch(() => undefined);
  }
}

/**
 * Returns the user's app with its own store, or with the store that is named. @throws UsageError
 */
function servedApp(
  host: Host,
  { store, app }: KeysOptions,
  configured: Runtime,
  name: string,
): Runtime {
  if (store !== undefined)
    return runtime({
      app: app ?? configured.app,
      tenant: configured.tenant,
      store: sqlite(writableStorePath(host, store)),
      recover: 'manual',
    });
  if (app !== undefined && app !== configured.app) {
    throw new UsageError({
      reason:
        `--app ${app}: ${name} exports the app "${configured.app}". Name its store with ` +
        '--store, or leave the file out with --no-config.',
    });
  }
  if (keepsInMemory(configured)) {
    throw new UsageError({
      reason:
        `The app of ${name} keeps everything in memory, and its API keys would be gone with ` +
        'this command. Give it a store.',
    });
  }
  return configured;
}

/**
 * Returns the app of the command line's own store. @throws UsageError when a key is to change and
 * there is no store yet
 */
function ownApp(host: Host, { store, app = 'adjutant' }: KeysOptions, purpose: Purpose): Runtime {
  const path = purpose === 'make' ? writableStorePath(host, store) : readableStorePath(host, store);
  if (path === undefined && purpose === 'change')
    throw new UsageError({
      reason: `There are no API keys yet. Make one: ${ownCommand('keys create')}`,
    });
  return runtime({
    app,
    ...(path === undefined ? {} : { store: sqlite(path) }),
    recover: 'manual',
  });
}
