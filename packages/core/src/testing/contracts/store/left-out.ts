import type {
  Batch,
  InboxItem,
  LedgerStore,
  PostOptions,
  Store,
  StoreAdmin,
} from '../../../ledger/port.ts';

/**
 * Parts that a store may leave out. Every store has the rest: head, events, ownership, inbox and
 * following.
 */
export type StorePart =
  | 'shared scopes'
  | 'forks'
  | 'blobs'
  | 'requests'
  | 'due'
  | 'turns'
  | 'sends'
  | 'rows'
  | 'replacement of rows'
  | 'snapshots'
  | 'deletion'
  | 'listing';

/** Parts that a store leaves out, each with the reason. */
export type LeftOut = Readonly<Partial<Record<StorePart, string>>>;

const methods: Readonly<Record<string, StorePart>> = {
  readShared: 'shared scopes',
  fork: 'forks',
  putBlob: 'blobs',
  getBlob: 'blobs',
  sweepBlobs: 'blobs',
  requests: 'requests',
  settle: 'requests',
  due: 'due',
  turn: 'turns',
  turns: 'turns',
  explainTurn: 'turns',
  take: 'turns',
  sends: 'sends',
  sent: 'sends',
  rows: 'rows',
  replaceRows: 'replacement of rows',
  putSnapshot: 'snapshots',
  getSnapshot: 'snapshots',
  delete: 'deletion',
  list: 'listing',
};

/** A store that notes when a test uses a part that is left out. */
export class PartWatch {
  readonly #leftOut: LeftOut;
  /** The first part that was used. */
  touched: StorePart | undefined;

  constructor(leftOut: LeftOut) {
    this.#leftOut = leftOut;
  }

  over(store: Store): Store {
    if (Object.keys(this.#leftOut).length === 0) return store;
    return {
      description: store.description,
      admin: this.#watched<StoreAdmin>(store.admin),
      for: (scope) => this.#watched<LedgerStore>(store.for(scope)),
      close: () => store.close(),
    };
  }

  #watched<Port extends object>(port: Port): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const method = Reflect.get(target, name) as unknown;
        if (typeof method !== 'function') return method;
        return (...args: unknown[]) => {
          for (const part of partsOf(String(name), args))
            if (this.#leftOut[part] !== undefined) this.touched ??= part;
          return Reflect.apply(method, target, args) as unknown;
        };
      },
    });
  }
}

function partsOf(name: string, args: readonly unknown[]): readonly StorePart[] {
  const method = methods[name];
  if (method !== undefined) return [method];
  if (name === 'post') return partsOfPost(args[1] as InboxItem, args[2] as PostOptions | undefined);
  if (name === 'append') return partsOfBatch(args[2] as Batch);
  return [];
}

function partsOfPost(item: InboxItem, options: PostOptions = {}): readonly StorePart[] {
  const parts: StorePart[] = item.settles === undefined ? [] : ['requests'];
  if (options.open !== undefined || options.birth !== undefined) parts.push('sends');
  if (options.turn !== undefined || options.admit !== undefined) parts.push('turns');
  if (options.rows !== undefined) parts.push('rows');
  return parts;
}

function partsOfBatch(batch: Batch): readonly StorePart[] {
  const { shared = [], blobs = [], requests = [], settles = [] } = batch;
  const parts: StorePart[] = [];
  if (shared.length > 0) parts.push('shared scopes');
  if (blobs.length > 0) parts.push('blobs');
  if (requests.length + settles.length > 0) parts.push('requests');
  if (batch.sends !== undefined) parts.push('sends');
  if (batch.turn !== undefined) parts.push('turns');
  if (batch.rows !== undefined) parts.push('rows');
  return parts;
}
