import type { Clock } from '../../base/clock.ts';
import { isAdjutantError } from '../../base/error.ts';
import type { Host } from '../../base/host.ts';
import { visibleLine } from '../../base/text/visible-text.ts';
import type { LedgerStore } from '../../ledger/port.ts';
import { postNotified } from '../../session/answer.ts';
import { runningBody } from '../frame/running-body.ts';
import type { TellsRequests, ToldOutcome } from '../frame/tells-requests.ts';
import type { RequestEntry } from './list.ts';
import type { TokenOptions } from './request-tokens.ts';
import type { RequestService } from './service.ts';

/** News of a request that waits for a person. */
export interface NewRequest {
  readonly request: RequestEntry;
  /** Id of the session that waits. */
  readonly session: string;
  readonly tenant: string;
  /** Makes a link to the page by which somebody decides; as `app.requests.link`. */
  link(options?: TokenOptions): Promise<string>;
}

/**
 * Function that is called for everything that waits for a person. The request counts as told when
 * it has returned, or when its promise is fulfilled.
 */
export type OnRequest = (news: NewRequest) => void | Promise<void>;

/** Parts of an app that tell of its requests. */
interface TellingPorts {
  readonly onRequest: OnRequest;
  readonly tenant: string;
  readonly requests: RequestService;
  readonly ledgers: () => LedgerStore;
  readonly clock: Clock;
  readonly host: Host;
  /** Called when an item was posted to a session. */
  readonly posted: (session: string) => void;
}

/** Teller of the requests of one tenant to the app's `onRequest`. */
export class RequestTelling implements TellsRequests {
  readonly #ports: TellingPorts;
  readonly #underWay = new Set<string>();
  /** Requests whose failure was reported: one that fails again is no news. */
  readonly #warned = new Set<string>();

  constructor(ports: TellingPorts) {
    this.#ports = ports;
  }

  async tell(session: string, requestId: string): Promise<ToldOutcome> {
    if (this.#underWay.has(requestId)) return 'skipped';
    const { onRequest, requests, tenant } = this.#ports;
    this.#underWay.add(requestId);
    try {
      const request = await requests.get(requestId);
      if (request.status === 'pending') {
        const link = (options?: TokenOptions): Promise<string> => requests.link(requestId, options);
        await runningBody.exit(() => onRequest({ request, session, tenant, link }));
      }
      this.#warned.delete(requestId);
      return 'told';
    } catch (error) {
      if (isAdjutantError(error, 'request_not_found')) return 'skipped';
      this.#failed(requestId, error);
      return 'failed';
    } finally {
      this.#underWay.delete(requestId);
    }
  }

  async note(session: string, requestId: string): Promise<void> {
    const { clock, ledgers, posted } = this.#ports;
    try {
      await postNotified({ session, ports: { store: ledgers(), clock } }, requestId);
      posted(session);
    } catch {
      // The session is gone, or the store does not answer: the request is told again.
    }
  }

  #failed(requestId: string, error: unknown): void {
    if (this.#warned.has(requestId)) return;
    this.#warned.add(requestId);
    const message = error instanceof Error ? error.message : String(error);
    this.#ports.host.warn(
      visibleLine(`\`onRequest\` failed for request "${requestId}" and is tried again: ${message}`),
      'on_request_failed',
    );
  }
}
