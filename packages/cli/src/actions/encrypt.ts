import type { Store } from 'adjutant';
import type { EncryptedStore, EncryptionReport } from 'adjutant/encryption';
import { defined } from 'adjutant/text';
import { exitCodes, UsageError } from '../failure.ts';
import type { Host } from '../host/host.ts';
import type { ConfigOptions } from '../modules/find-config.ts';
import { loadApp, shownName } from '../modules/load-module.ts';
import { formatCount } from '../output/format.ts';
import { jsonLine } from '../output/json-output.ts';
import { plainLine } from '../output/plain-text.ts';

export interface EncryptCommandOptions extends ConfigOptions {
  /** The only app whose sessions are encrypted. @default all of the store */
  readonly only?: string;
  readonly json?: boolean;
}

/** `adjutant encrypt`: seals what the store of the user's app has without encryption. */
export async function encryptStore(host: Host, options: EncryptCommandOptions): Promise<number> {
  const configured = await loadApp(host, options);
  if (configured === undefined)
    throw new UsageError({
      reason:
        'adjutant encrypt works on the store of your app: write adjutant.config.ts, with ' +
        '`store: encrypted(sqlite(…), { keys })`, or name it with --config.',
    });
  const { app } = configured;
  try {
    const { store } = app;
    if (!isEncrypted(store))
      throw new UsageError({
        reason:
          `The store of ${shownName(configured)} is not encrypted. Give the app ` +
          '`encrypted(store, { keys })` of adjutant/encryption in the place of its store, and ' +
          'call adjutant encrypt again.',
      });
    const { only } = options;
    const report = await store.encryptExisting(defined({ app: only }));
    host.stdout.write(
      options.json === true
        ? jsonLine({ type: 'encrypt', store: store.description, ...report })
        : `${plainLine(store.description)}: ${said(report)}\n`,
    );
    return exitCodes.ok;
  } finally {
    await app.close().catch(() => undefined);
  }
}

function isEncrypted(store: Store): store is EncryptedStore {
  return typeof (store as Partial<EncryptedStore>).encryptExisting === 'function';
}

function said(report: EncryptionReport): string {
  const { sessions, events, requests, inbox, shared, blobs, rows, sends } = report;
  if (sessions + events + requests + inbox + shared + blobs + rows + sends === 0)
    return 'everything was encrypted already';
  const parts = [
    formatCount(sessions, 'session'),
    formatCount(events, 'event'),
    formatCount(requests, 'request'),
    formatCount(inbox, 'waiting item'),
    formatCount(shared, 'shared value'),
    formatCount(blobs, 'large value'),
    ...(rows === 0 ? [] : [formatCount(rows, 'listed row')]),
    ...(sends === 0 ? [] : [formatCount(sends, 'message')]),
  ];
  return `encrypted ${parts.join(', ')}`;
}
