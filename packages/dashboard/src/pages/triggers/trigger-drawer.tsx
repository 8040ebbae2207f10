import type { ServerTrigger } from '@adjutant/server/client';
import { useState } from 'react';
import { Link } from 'wouter';
import { pathOf } from '../../address/paths.ts';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { CopyMenu } from '../../components/copy/copy-menu.tsx';
import { Drawer } from '../../components/drawer.tsx';
import { DrawerTitle, Fact, Facts, factLink } from '../../components/facts.tsx';
import { age, count, fullTime, moment, plural } from '../../components/format.ts';
import { Failure, Reading } from '../../components/states.tsx';
import { useNow } from '../../components/use-now.ts';
import { visible } from '../../components/visible-text.ts';
import { causeWords, copiedTrigger, hasSchedule } from './schedule-words.ts';
import { unlessChangeable } from './trigger-change.ts';
import { TriggerDialog } from './trigger-dialog.tsx';
import styles from './trigger-drawer.module.css';
import { TriggerHistory } from './trigger-history.tsx';
import { Next } from './trigger-row.tsx';
import { type TriggerActs, useNextFirings, useTrigger } from './use-triggers.ts';

interface TriggerDrawerProps {
  readonly name: string;
  readonly acts: TriggerActs;
  readonly unless: string | undefined;
  readonly onClose: () => void;
}

/** One trigger: what it does, its next firings, its history, and what can be done with it. */
export function TriggerDrawer({ name, acts, unless, onClose }: TriggerDrawerProps) {
  const { data: trigger, error } = useTrigger(name);
  return (
    <Drawer
      label={`Trigger ${name}`}
      isWhole
      onClose={onClose}
      head={<DrawerTitle>{visible(name)}</DrawerTitle>}
      foot={trigger === undefined ? undefined : <Acts {...{ trigger, acts, unless, onClose }} />}
    >
      {error !== null && trigger === undefined ? (
        <Failure error={error} what="The trigger" />
      ) : trigger === undefined ? (
        <Reading what="the trigger" />
      ) : (
        <Details trigger={trigger} />
      )}
    </Drawer>
  );
}

function Details({ trigger }: { readonly trigger: ServerTrigger }) {
  const now = useNow();
  const { name, on, description, start, input, fired, failed, last } = trigger;
  const facts = [
    ['Fires', causeWords(on, (at) => moment(at, now))],
    ...(on.kind === 'cron' ? [['Pattern', String(on['pattern'])]] : []),
    ['Starts', start],
    ...(input === undefined ? [] : [['With', input]]),
    ['If one goes on', trigger.overlap],
    ['If it was late', trigger.missed],
    ['Priority', trigger.priority ?? 'low'],
    ['Fired', `${plural(fired, 'time')}, ${count(failed)} failed`],
  ] as const;
  return (
    <div className={styles['details']}>
      {description === undefined ? null : <bdi>{visible(description)}</bdi>}
      <Facts>
        <Fact name="Next">
          <Next trigger={trigger} now={now} />
        </Fact>
        {facts.map(([fact, words]) => (
          <Fact key={fact} name={fact ?? ''}>
            <bdi>{visible(words ?? '')}</bdi>
          </Fact>
        ))}
        {last === undefined ? null : (
          <Fact name="Last" title={fullTime(last.at)}>
            {age(now - last.at)} ago{last.status === undefined ? '' : `, ${last.status}`}{' '}
            <Link className={factLink} href={pathOf('sessions', last.session)}>
              its session
            </Link>
          </Fact>
        )}
      </Facts>
      <NextFirings trigger={trigger} now={now} />
      <TriggerHistory name={name} now={now} />
    </div>
  );
}

interface NextFiringsProps {
  readonly trigger: ServerTrigger;
  readonly now: number;
}

function NextFirings({ trigger, now }: NextFiringsProps) {
  const { data } = useNextFirings(trigger);
  if (!hasSchedule(trigger.on) || data === undefined) return null;
  return (
    <section>
      <h3 className={styles['part']}>Next firings</h3>
      <ol className={styles['next']}>
        {data.map((at) => (
          <li key={at} title={fullTime(at)}>
            {moment(at, now)} <span className="faint">in {age(at - now)}</span>
          </li>
        ))}
      </ol>
      {data.length === 0 ? <p className="faint">It has no further instant.</p> : null}
    </section>
  );
}

interface ActsProps {
  readonly trigger: ServerTrigger;
  readonly acts: TriggerActs;
  readonly unless: string | undefined;
  readonly onClose: () => void;
}

function Acts({ trigger, acts, unless, onClose }: ActsProps) {
  const [isAsking, setAsking] = useState(false);
  const [isChanging, setChanging] = useState(false);
  const { name, status } = trigger;
  const { isBusy } = acts;
  if (status === 'deleted')
    return <span className="faint">It was deleted; its history stays.</span>;
  return (
    <>
      <FiringActs {...{ trigger, acts, unless }} />
      <Button
        icon="edit"
        unless={unless ?? unlessChangeable(trigger)}
        onPress={() => setChanging(true)}
      >
        Change
      </Button>
      <Button look="bad" unless={unless} onPress={() => setAsking(true)}>
        Delete
      </Button>
      <CopyMenu what="the trigger" isSmall copied={() => copiedTrigger(trigger)} />
      {isChanging ? (
        <TriggerDialog {...{ trigger, acts }} onClose={() => setChanging(false)} />
      ) : null}
      {isAsking ? (
        <Confirm
          title={`Delete the trigger “${name}”?`}
          act="Delete"
          isBusy={isBusy}
          onClose={() => setAsking(false)}
          onConfirm={() =>
            void acts.remove(name).then((isDone) => {
              setAsking(false);
              if (isDone) onClose();
            })
          }
        >
          <p>It fires no more, and its open work is cancelled. Its history stays.</p>
        </Confirm>
      ) : null}
    </>
  );
}

/** Acts on whether it fires: by hand, not now, not any more, again. */
function FiringActs({ trigger, acts, unless }: Omit<ActsProps, 'onClose'>) {
  const { name, status } = trigger;
  const { isBusy } = acts;
  const isOver = status === 'completed' || status === 'deleted';
  return (
    <>
      {status === 'active' ? (
        <>
          <Button {...{ unless, isBusy }} icon="play" onPress={() => acts.fire(name)}>
            Fire now
          </Button>
          <Button {...{ unless, isBusy }} icon="pause" onPress={() => acts.pause(name)}>
            Pause
          </Button>
        </>
      ) : null}
      {status === 'paused' || status === 'disabled' ? (
        <Button {...{ unless, isBusy }} icon="play" onPress={() => acts.resume(name)}>
          Resume
        </Button>
      ) : null}
      {isOver || status === 'disabled' ? null : (
        <Button {...{ unless, isBusy }} onPress={() => acts.disable(trigger)}>
          Disable
        </Button>
      )}
    </>
  );
}
