import type { ServerTask, ServerTaskPriority } from '@adjutant/server/client';
import { useState } from 'react';
import { Link } from 'wouter';
import { pathOf } from '../../address/paths.ts';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { CopyMenu } from '../../components/copy/copy-menu.tsx';
import { Drawer } from '../../components/drawer.tsx';
import { DrawerTitle, Fact, Facts, factLink } from '../../components/facts.tsx';
import { fullTime, moment, plural } from '../../components/format.ts';
import { Failure, Reading } from '../../components/states.tsx';
import { useNow } from '../../components/use-now.ts';
import { firstLine, visible } from '../../components/visible-text.ts';
import styles from './task-drawer.module.css';
import { copiedTask, isOpen, levels } from './task-queue.ts';
import { Why } from './task-row.tsx';
import { type TaskActs, useTask } from './use-tasks.ts';

interface TaskDrawerProps {
  readonly id: string;
  readonly acts: TaskActs;
  readonly unless: string | undefined;
  readonly onClose: () => void;
}

/** One task: what it is, why it waits, and what can be done with it. */
export function TaskDrawer({ id, acts, unless, onClose }: TaskDrawerProps) {
  const { data: task, error } = useTask(id);
  const name = task === undefined ? id : task.name;
  return (
    <Drawer
      label={`Task ${name}`}
      isWhole
      onClose={onClose}
      head={
        <>
          <DrawerTitle>{visible(name)}</DrawerTitle>
          <span className="mono faint">{id}</span>
        </>
      }
      foot={task === undefined ? undefined : <Acts {...{ task, acts, unless, onClose }} />}
    >
      {error !== null && task === undefined ? (
        <Failure error={error} what="The task" />
      ) : task === undefined ? (
        <Reading what="the task" />
      ) : (
        <Details {...{ task, acts, unless }} />
      )}
    </Drawer>
  );
}

interface DetailsProps {
  readonly task: ServerTask;
  readonly acts: TaskActs;
  readonly unless: string | undefined;
}

function Details({ task, acts, unless }: DetailsProps) {
  const now = useNow();
  const { session, description, agent, error, result } = task;
  return (
    <div className={styles['details']}>
      <Why task={task} now={now} />
      {description === undefined ? null : <bdi>{visible(description)}</bdi>}
      <Facts>
        <Fact name="Priority">
          <Priority {...{ task, acts, unless }} />
        </Fact>
        <Fact name="Agent">{firstLine(agent, 80)}</Fact>
        <Fact name="Session">
          <Link className={factLink} href={pathOf('sessions', session)}>
            <bdi>{firstLine(session, 80)}</bdi>
          </Link>
        </Fact>
        {factsOf(task, now).map(([name, words, title]) => (
          <Fact key={name} {...{ name, title }}>
            <bdi>{firstLine(words, 120)}</bdi>
          </Fact>
        ))}
      </Facts>
      {error === undefined ? null : (
        <div className={styles['error']}>
          <span className="mono">{visible(error.code)}</span>
          <bdi>{visible(error.message)}</bdi>
        </div>
      )}
      {result === undefined ? null : (
        <pre className="mono">
          {visible(typeof result === 'string' ? result : JSON.stringify(result, null, 2))}
        </pre>
      )}
    </div>
  );
}

/** Further properties of a task: name, words, and the whole time for those who point at it. */
function factsOf(
  task: ServerTask,
  now: number,
): readonly (readonly [string, string, string | undefined])[] {
  const times = [
    ['Submitted', task.submittedAt],
    ['Not before', task.notBefore],
    ['Begun', task.startedAt],
    ['Soft deadline', task.softDeadlineAt],
    ['Hard deadline', task.hardDeadlineAt],
    ['Ended', task.completedAt],
  ] as const;
  return [
    ['Requested by', task.requester, undefined],
    ['Queue', task.queue, undefined],
    ...(task.source === undefined ? [] : [['Source', task.source, undefined] as const]),
    [
      'Done',
      `${plural(task.roundsCompleted, 'round')}, ${plural(task.attempts, 'attempt')}`,
      undefined,
    ],
    ...times.flatMap(([name, at]) =>
      at === undefined ? [] : [[name, moment(at, now), fullTime(at)] as const],
    ),
  ];
}

function Priority({ task, acts, unless }: DetailsProps) {
  return (
    <select
      aria-label="Priority"
      className={styles['priority']}
      value={task.priority}
      disabled={unless !== undefined || !isOpen(task)}
      title={unless}
      onChange={(event) => acts.reprioritize(task, event.target.value as ServerTaskPriority)}
    >
      {levels.map(({ priority, name, note }) => (
        <option key={priority} value={priority}>
          {name}: {note}
        </option>
      ))}
    </select>
  );
}

interface ActsProps extends DetailsProps {
  readonly onClose: () => void;
}

function Acts({ task, acts, unless, onClose }: ActsProps) {
  const [question, setQuestion] = useState<'cancel' | 'discard' | undefined>();
  const { isBusy } = acts;
  return (
    <>
      {isOpen(task) ? (
        <>
          {task.state === 'suspended' ? (
            <Button icon="play" {...{ unless, isBusy }} onPress={() => acts.resume(task)}>
              Resume
            </Button>
          ) : (
            <Button icon="pause" {...{ unless, isBusy }} onPress={() => acts.suspend(task)}>
              Suspend
            </Button>
          )}
          <Button {...{ unless, isBusy }} onPress={() => acts.toFront(task)}>
            Move to the front
          </Button>
          <Button look="bad" unless={unless} onPress={() => setQuestion('cancel')}>
            Cancel
          </Button>
        </>
      ) : (
        <>
          {task.state === 'completed' ? null : (
            <Button icon="retry" {...{ unless, isBusy }} onPress={() => acts.retry([task])}>
              Retry
            </Button>
          )}
          <Button look="bad" unless={unless} onPress={() => setQuestion('discard')}>
            Discard
          </Button>
        </>
      )}
      <CopyMenu what="the task" isSmall copied={() => copiedTask(task)} />
      {question === undefined ? null : (
        <Ask {...{ task, acts, question, onClose }} onLeave={() => setQuestion(undefined)} />
      )}
    </>
  );
}

/** Words for the acts that cannot be taken back. */
const asked = {
  cancel: {
    title: 'Cancel the task',
    act: 'Cancel the task',
    help: 'It ends where it is. What it has done stays done; it can be tried again.',
  },
  discard: {
    title: 'Take out of the list:',
    act: 'Discard',
    help: 'It cannot be tried again then. Its session stays.',
  },
} as const;

interface AskProps {
  readonly task: ServerTask;
  readonly acts: TaskActs;
  readonly question: keyof typeof asked;
  readonly onLeave: () => void;
  readonly onClose: () => void;
}

function Ask({ task, acts, question, onLeave, onClose }: AskProps) {
  const { title, act, help } = asked[question];
  const confirm = async (): Promise<void> => {
    const isDone = await acts[question](task);
    onLeave();
    if (isDone && question === 'discard') onClose();
  };
  return (
    <Confirm
      title={`${title} “${firstLine(task.name, 80)}”?`}
      act={act}
      isBusy={acts.isBusy}
      onClose={onLeave}
      onConfirm={() => void confirm()}
    >
      <p>{help}</p>
    </Confirm>
  );
}
