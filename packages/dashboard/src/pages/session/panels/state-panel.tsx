import type { Moment } from '@adjutant/server/client';
import { Link } from 'wouter';
import { pathOf } from '../../../address/paths.ts';
import { Button } from '../../../components/button.tsx';
import { CopyMenu } from '../../../components/copy/copy-menu.tsx';
import { clock, count, fullTime, money } from '../../../components/format.ts';
import { KindGlyph } from '../../../components/kind-glyph.tsx';
import { PlaceHolder, Reading } from '../../../components/states.tsx';
import { inline } from '../../../components/visible-text.ts';
import { eventWords } from '../../../ledger/event-words.ts';
import type { FollowedLedger } from '../../../ledger/followed-ledger.ts';
import type { Position } from '../position.ts';
import { copiedEvent } from './copied.ts';
import { DecisionList } from './decision-list.tsx';
import { StateFailure } from './state-failure.tsx';
import { StateList } from './state-list.tsx';
import styles from './state-panel.module.css';

interface StatePanelProps {
  readonly ledger: FollowedLedger;
  readonly position: Position;
  readonly moment: Moment | undefined;
  /** The moment is that of another event: the right one is being read. */
  readonly isOld: boolean;
  /** Refusal or loss of the moment. */
  readonly error: unknown;
  readonly onPrompt: () => void;
  /** Last model call at or before the chosen event. */
  readonly modelCall: number | undefined;
}

/** Everything that held at the chosen event: the event itself, state, usage, requests, decisions. */
export function StatePanel(props: StatePanelProps) {
  const { ledger, position, moment, isOld, error, modelCall, onPrompt } = props;
  return (
    <section className={styles['panel']} aria-label="State at the chosen event">
      <div className={styles['progress']} data-on={isOld || undefined} aria-hidden="true" />
      <div
        className={styles['scroll']}
        tabIndex={0}
        role="group"
        aria-label="Panels"
        data-at={isOld ? undefined : moment?.at}
      >
        <EventCard ledger={ledger} seq={position.seq}>
          {modelCall === undefined ? null : (
            <Button icon="prompt" shortcut="P" onPress={onPrompt}>
              Prompt of the call at #{modelCall}
            </Button>
          )}
        </EventCard>
        {moment === undefined ? (
          error === null ? (
            <Reading what="the state" />
          ) : (
            <StateFailure error={error} columns={ledger.columns} position={position} />
          )
        ) : (
          <>
            <StateList session={ledger.session} moment={moment} position={position} />
            <Figures moment={moment} />
            <Requests moment={moment} isLive={position.isLive} />
          </>
        )}
        <DecisionList ledger={ledger} position={position} />
      </div>
    </section>
  );
}

interface EventCardProps {
  readonly ledger: FollowedLedger;
  readonly seq: number;
  readonly children: React.ReactNode;
}

function EventCard({ ledger, seq, children }: EventCardProps) {
  const event = ledger.columns.eventAt(seq);
  const body = ledger.event(seq);
  if (event === undefined) return <PlaceHolder title="Nothing has happened yet." />;
  return (
    <section className={styles['event']} aria-label="Event">
      <div className={styles['eventHead']}>
        <KindGlyph kind={event.kind} />
        <span>{event.type}</span>
        <time title={fullTime(event.at)}>{clock(event.at, { withMs: true })}</time>
      </div>
      <p>
        <bdi>{body === undefined ? '' : eventWords(body)}</bdi>
        {body?.['by'] === undefined ? null : (
          <span className="faint"> · by {inline(body['by'], 80)}</span>
        )}
      </p>
      <div className={styles['acts']}>
        {children}
        {body === undefined ? null : (
          <CopyMenu what="the event" isSmall copied={() => copiedEvent(ledger.session, body)} />
        )}
      </div>
      {body === undefined ? null : (
        <details className={styles['whole']}>
          <summary>All fields</summary>
          <pre>{inline(JSON.stringify(body), 20_000)}</pre>
        </details>
      )}
    </section>
  );
}

function Figures({ moment }: { readonly moment: Moment }) {
  const { usage: calls, invocations } = moment;
  const { usage } = calls;
  const figures: readonly (readonly [string, string])[] = [
    ['Cost', money(calls.cost)],
    ['Tokens in, out', `${count(usage.inputTokens)} · ${count(usage.outputTokens)}`],
    ['Model calls', count(calls.calls)],
    ['At work', count(invocations.length)],
  ];
  return (
    <section className={styles['section']} aria-label="Usage">
      <h3>Usage up to here</h3>
      <dl className={styles['figures']}>
        {figures.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className="number">{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Requests({ moment, isLive }: { readonly moment: Moment; readonly isLive: boolean }) {
  const { requests } = moment;
  return (
    <section className={styles['section']} aria-label="Open requests">
      <h3>
        Open requests <span className="faint">{requests.length === 0 ? '' : requests.length}</span>
      </h3>
      {requests.length === 0 ? (
        <p className={styles['none']}>Nobody is being waited for at this event.</p>
      ) : (
        <ul className={styles['requests']}>
          {requests.map((request) => (
            <li key={request.requestId}>
              <KindGlyph kind="wait" label="open" />
              <span>
                <bdi>{inline(request.summary)}</bdi>
                {isLive ? (
                  <Link href={pathOf('approvals', request.requestId)}>Answer</Link>
                ) : (
                  <span className="faint">Answers are given at the newest event.</span>
                )}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
