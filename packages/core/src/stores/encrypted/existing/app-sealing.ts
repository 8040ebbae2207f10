import { defined } from '../../../base/defined.ts';
import { blobAddress } from '../../../ledger/blobs/blob-address.ts';
import type { ListedRow, RequestDraft, Send } from '../../../ledger/port.ts';
import type { ContentAccess, ContentRow } from '../../content-access.ts';
import type { SessionKeys } from '../keys/session-keys.ts';
import { RowSeals } from '../row-seals.ts';
import { AppSeals, type SealScope, SessionSeals } from '../seals.ts';
import { isOpened } from './ledger-sealing.ts';
import type { SealedCounts } from './sealed-counts.ts';
import { pages } from './stored-ledgers.ts';

/** Seals what the tables have of one tenant and app besides its ledgers. */
export class AppSealing {
  readonly #content: ContentAccess;
  readonly #scope: SealScope;
  readonly #seals: AppSeals;
  readonly #sessionSeals: SessionSeals;
  readonly #rowSeals: RowSeals;
  readonly #counts: SealedCounts;

  constructor(
    content: ContentAccess,
    scope: SealScope,
    appKeys: SessionKeys,
    counts: SealedCounts,
  ) {
    this.#content = content;
    this.#scope = scope;
    this.#seals = new AppSeals(scope, appKeys);
    this.#sessionSeals = new SessionSeals(scope);
    this.#rowSeals = new RowSeals(scope);
    this.#counts = counts;
  }

  /** @param keys keys of the ledgers, by their numbers */
  async seal(keys: ReadonlyMap<number, SessionKeys>): Promise<void> {
    await this.#sealRequests(keys);
    await this.#sealRows(keys);
    await this.#sealSends();
    await this.#sealShared();
    await this.#sealBlobs();
  }

  async #sealRows(keys: ReadonlyMap<number, SessionKeys>): Promise<void> {
    const { user, fromStored } = this.#content.dialect;
    const select =
      `select kind, id, ledger, status, at, expires_at, ${user} as row_user, body ` +
      'from {s}listed_rows where tenant = $1 and app = $2 and (kind, id) > ($3, $4) ' +
      'order by kind, id limit $5';
    const update =
      'update {s}listed_rows set body = $5 ' +
      'where tenant = $1 and app = $2 and kind = $3 and id = $4';
    for await (const rows of pages(this.#reading(select, 'kind', 'id')))
      for (const row of rows) {
        const ofSession = keys.get(Number(row['ledger']));
        const listed = listedRow(row, fromStored);
        if (ofSession === undefined || isOpened(() => this.#rowSeals.open(ofSession, listed)))
          continue;
        const { body } = this.#rowSeals.seal(ofSession, listed);
        const names = [String(row['kind']), String(row['id'])];
        await this.#content.query(update, [...this.#place(), ...names, JSON.stringify(body)]);
        this.#counts.rows += 1;
      }
  }

  async #sealSends(): Promise<void> {
    const { fromStored } = this.#content.dialect;
    const rows = await this.#content.query(
      'select number, sender, send from {s}outbox where tenant = $1 and app = $2 order by number',
      this.#place(),
    );
    for (const row of rows) {
      const from = fromStored(String(row['sender']));
      const send = JSON.parse(String(row['send'])) as Send;
      if (isOpened(() => this.#seals.openSend(from, send))) continue;
      const sealed = JSON.stringify(this.#seals.sealSend(from, send));
      await this.#content.query('update {s}outbox set send = $2 where number = $1', [
        Number(row['number']),
        sealed,
      ]);
      this.#counts.sends += 1;
    }
  }

  async #sealRequests(keys: ReadonlyMap<number, SessionKeys>): Promise<void> {
    const { requestId, requestBody } = this.#content.dialect;
    const select =
      `select ${requestId} as id, ledger, ${requestBody} as body from {s}requests ` +
      `where tenant = $1 and app = $2 and ${requestId} > $3 order by ${requestId} limit $4`;
    const update =
      `update {s}requests set ${requestBody} = $4 ` +
      `where tenant = $1 and app = $2 and ${requestId} = $3`;
    for await (const rows of pages(this.#reading(select, 'id')))
      for (const row of rows) {
        const ofSession = keys.get(Number(row['ledger']));
        const request = JSON.parse(String(row['body'])) as RequestDraft;
        const open = (own: SessionKeys): unknown =>
          this.#sessionSeals.openRequest(own, { ...request, status: 'pending' });
        if (ofSession === undefined || isOpened(() => open(ofSession))) continue;
        const sealed = JSON.stringify(this.#sessionSeals.sealRequest(ofSession, request));
        await this.#content.query(update, [...this.#place(), row['id'], sealed]);
        this.#counts.requests += 1;
      }
  }

  async #sealShared(): Promise<void> {
    const { fromStored } = this.#content.dialect;
    const select =
      'select scope, scope_id, key, value from {s}shared where tenant = $1 and app = $2 and ' +
      '(scope, scope_id, key) > ($3, $4, $5) order by scope, scope_id, key limit $6';
    const update =
      'update {s}shared set value = $6 where tenant = $1 and app = $2 and scope = $3 and ' +
      'scope_id = $4 and key = $5';
    for await (const rows of pages(this.#reading(select, 'scope', 'scope_id', 'key')))
      for (const row of rows) {
        if (row['value'] === null) continue;
        const names = [row['scope'], row['scope_id'], row['key']].map(String);
        const [scope = '', scopeId = '', key = ''] = names.map(fromStored);
        const value = JSON.parse(String(row['value']));
        if (isOpened(() => this.#seals.openShared(scope, scopeId, key, value))) continue;
        const sealed = this.#seals.sealShared({ scope, scopeId, key, value, baseVersion: 0 });
        await this.#content.query(update, [
          ...this.#place(),
          ...names,
          JSON.stringify(sealed.value),
        ]);
        this.#counts.shared += 1;
      }
  }

  /** Seals blobs and gives them the names that hide their addresses. */
  async #sealBlobs(): Promise<void> {
    const addressKeys = await this.#content.query(
      'select key from {s}address_keys where tenant = $1 and app = $2',
      this.#place(),
    );
    const keys = [undefined, ...addressKeys.map(({ key }) => key as Uint8Array)];
    // Only addresses: sealed blobs get new ones, which may come later in the order.
    const select =
      'select address from {s}blobs where tenant = $1 and app = $2 and address > $3 ' +
      'order by address limit $4';
    for await (const rows of pages(this.#reading(select, 'address')))
      for (const { address } of rows) await this.#sealBlob(String(address), keys);
  }

  async #sealBlob(address: string, keys: readonly (Uint8Array | undefined)[]): Promise<void> {
    const [row] = await this.#content.query('select bytes from {s}blobs where address = $1', [
      address,
    ]);
    const bytes = row?.['bytes'] as Uint8Array | undefined;
    if (bytes === undefined) return;
    // The name of a sealed blob does not come from its bytes.
    if (keys.every((key) => blobAddress(this.#scope, bytes, key) !== address)) return;
    const name = this.#seals.blobName(address);
    const { bytes: type } = this.#content.dialect;
    await this.#content.query(
      'insert into {s}blobs (address, tenant, app, put_at, bytes) ' +
        `select cast($2 as text), tenant, app, put_at, cast($3 as ${type}) from {s}blobs ` +
        'where address = $1 on conflict do nothing',
      [address, name, this.#seals.sealBlob(address, bytes)],
    );
    await this.#content.query(
      'insert into {s}blob_references (ledger, address, seq) ' +
        'select ledger, cast($2 as text), seq from {s}blob_references where address = $1 ' +
        'on conflict do nothing',
      [address, name],
    );
    await this.#content.query('delete from {s}blob_references where address = $1', [address]);
    await this.#content.query('delete from {s}blobs where address = $1', [address]);
    this.#counts.blobs += 1;
  }

  #place(): readonly string[] {
    const { toStored } = this.#content.dialect;
    return [toStored(this.#scope.tenant), toStored(this.#scope.app)];
  }

  /** Reads pages of rows in the order of columns of text. */
  #reading(
    select: string,
    ...columns: readonly string[]
  ): (last: ContentRow | undefined, limit: number) => Promise<readonly ContentRow[]> {
    return (last, limit) =>
      this.#content.query(select, [
        ...this.#place(),
        ...columns.map((column) => last?.[column] ?? ''),
        limit,
      ]);
  }
}

function listedRow(row: ContentRow, fromStored: (stored: string) => string): ListedRow {
  const text = (column: string): string => fromStored(String(row[column]));
  const expiresAt = row['expires_at'] === null ? undefined : Number(row['expires_at']);
  const user = row['row_user'] === null ? undefined : text('row_user');
  return {
    kind: text('kind'),
    id: text('id'),
    status: text('status'),
    at: Number(row['at']),
    ...defined({ expiresAt, user }),
    body: JSON.parse(String(row['body'])),
  };
}
