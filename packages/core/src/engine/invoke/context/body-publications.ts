import { contentHash } from '../../../base/hash.ts';
import { publicationSend } from '../../../effects/publish/publication.ts';
import { type EventToPublish, publishedEvent } from '../../../effects/publish/published-event.ts';
import { decision, isDecision } from '../../../ledger/decisions/decision.ts';
import { taskOfRun } from '../../../ledger/folds/task.ts';
import { InvalidKeyError } from '../../frame/errors.ts';
import type { BodyPlace } from './body-place.ts';

/** Publications of one body: each lands once, with the record that it was made. */
export class BodyPublications {
  readonly #place: BodyPlace;
  readonly #counts = new Map<string, number>();

  constructor(place: BodyPlace) {
    this.#place = place;
  }

  /** @throws InvalidBusEventError, InvalidKeyError */
  async publish(given: EventToPublish, named: string | undefined): Promise<void> {
    const { childRoot, path, run, startedAt } = this.#place;
    const { ledger, runId } = run;
    const cause = taskOfRun(ledger.events, runId)?.cause;
    const draft = publishedEvent(given, { id: '', at: startedAt, cause });
    const key = `${childRoot}/${this.#keyOf(named, given)}`;
    if (this.#isRecorded(key)) return;
    const { app: name, tenant } = ledger.ports.scope;
    const id = contentHash([tenant, name, ledger.session, key, startedAt]);
    const event = { ...draft, id };
    const isCopy = ledger.invocations.outside.some((one) => isDecision(one, 'fork'));
    ledger.append(
      [
        decision('bus', 'publish', {
          by: this.#place.by,
          invocationId: path,
          reasoning: `The event "${event.type}" was published.`,
          data: { key, event },
        }),
      ],
      // A fork must not make others act upon what only might have been.
      isCopy ? undefined : { sends: [publicationSend(event)] },
    );
    await ledger.durable();
  }

  /** An event without a key is known by its content, and equal ones by their number. */
  #keyOf(named: string | undefined, given: EventToPublish): string {
    const key = named ?? contentHash([given.type, given.source ?? null, given.data ?? null]);
    if (typeof key !== 'string' || key === '' || key.length > 200)
      throw new InvalidKeyError({ key: String(key), reason: 'it must have 1 to 200 characters' });
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    if (count > 1 && named !== undefined)
      throw new InvalidKeyError({ key, reason: 'the body has published an event with it already' });
    return count === 1 ? key : `${key}#${count}`;
  }

  #isRecorded(key: string): boolean {
    const { path, run } = this.#place;
    const events = run.ledger.invocations.byPath.get(path)?.events ?? [];
    return events.some((event) => isDecision(event, 'bus', 'publish') && event.data?.key === key);
  }
}
