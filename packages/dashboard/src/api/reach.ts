/** Reach of the server, as the requests of the page have found it. */
export type Reach =
  | { readonly state: 'reached' }
  | {
      /** Nothing has come back since `since`, in epoch milliseconds. */
      readonly state: 'away';
      readonly since: number;
    }
  | {
      /** The server has refused too many requests: none is sent before `until`. */
      readonly state: 'slowed';
      readonly until: number;
    };

const reached: Reach = { state: 'reached' };
/** Answers of a proxy whose server is away. */
const awayStatuses: ReadonlySet<number> = new Set([502, 503, 504]);
const tooManyRequests = 429;
/** Milliseconds that a refusal without a `Retry-After` is waited out, and the longest wait. */
const usualWaitMs = 1_000;
const longestWaitMs = 60_000;

let present: Reach = reached;
const listeners = new Set<() => void>();

export function presentReach(): Reach {
  return present;
}

export function onReach(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const refusalListeners = new Set<() => void>();

/** Calls back whenever the server itself has said that it cannot do what was asked. */
export function onUnavailable(listener: () => void): () => void {
  refusalListeners.add(listener);
  return () => refusalListeners.delete(listener);
}

/**
 * `fetch` of the page: notes whether the server is there, and sends nothing while the server has
 * asked to wait, so that no request is made only to be refused.
 */
export async function reachingFetch(
  input: string | URL | Request,
  init: RequestInit = {},
): Promise<Response> {
  const { signal } = init;
  await untilAllowed(signal);
  try {
    // The cookie is the only credential of the page.
    const response = await fetch(input, { ...init, credentials: 'same-origin' });
    note(reachOf(response));
    return response;
  } catch (error) {
    if (signal?.aborted !== true) noteAway();
    throw error;
  }
}

function reachOf({ status, headers }: Response): Reach | undefined {
  if (awayStatuses.has(status)) {
    // The server itself says in JSON what it lacks: room, or its store.
    if (!/[/+]json\b/.test(headers.get('content-type') ?? '')) return awayNow();
    for (const listener of refusalListeners) listener();
  }
  if (status !== tooManyRequests) return present.state === 'slowed' ? undefined : reached;
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  const ms = seconds > 0 ? Math.min(seconds * 1_000, longestWaitMs) : usualWaitMs;
  return { state: 'slowed', until: Date.now() + ms };
}

function awayNow(): Reach {
  return present.state === 'away' ? present : { state: 'away', since: Date.now() };
}

function noteAway(): void {
  note(awayNow());
}

function note(next: Reach | undefined): void {
  if (next === undefined || next === present) return;
  present = next;
  if (next.state === 'slowed')
    setTimeout(() => {
      if (present === next) note(reached);
    }, next.until - Date.now());
  for (const listener of listeners) listener();
}

/** Waits until the time is over that the server has asked for; the signal ends the wait. */
async function untilAllowed(signal: AbortSignal | null | undefined): Promise<void> {
  while (present.state === 'slowed') {
    const ms = present.until - Date.now();
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(resolve, Math.max(1, ms));
      signal?.addEventListener('abort', () => {
        clearTimeout(timer);
        reject(signal.reason);
      });
    });
  }
}
