import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { CopyMenu } from '../../components/copy/copy-menu.tsx';
import { Drawer } from '../../components/drawer.tsx';
import { DrawerTitle, Fact, Facts } from '../../components/facts.tsx';
import { count, duration } from '../../components/format.ts';
import { Failure, PlaceHolder, Reading } from '../../components/states.tsx';
import { Status } from '../../components/status.tsx';
import { firstLine, visible } from '../../components/visible-text.ts';
import { type EvalCase, passedCase, percent, price, scoreText } from './eval-words.ts';
import styles from './evals-page.module.css';
import { SessionLink } from './session-link.tsx';
import { TextBlock, ValueBlock } from './texts.tsx';

interface CaseDrawerProps {
  readonly report: string;
  readonly id: string;
  readonly variant: string;
  readonly onClose: () => void;
}

/** All of one case with one variant: what was said, what was expected, and what scorers found. */
export function CaseDrawer({ report, id, variant, onClose }: CaseDrawerProps) {
  const { data, error } = useQuery({
    queryKey: ['evals', report, 'case', variant, id],
    queryFn: ({ signal }) => findCase(report, { id, variant, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Drawer
      label="Case"
      head={
        <>
          <DrawerTitle>{firstLine(id, 200)}</DrawerTitle>
          <bdi className="faint">{firstLine(variant, 80)}</bdi>
        </>
      }
      foot={
        data == null ? undefined : (
          <CopyMenu
            what="the case"
            copied={() => ({
              title: `Case ${id} with ${variant}`,
              facts: [
                ['Passed', percent(data.passRate)],
                ['Report', report],
              ],
              data,
              request: { path: ['evals', report], query: { variant, text: id.slice(0, 500) } },
            })}
          />
        )
      }
      onClose={onClose}
    >
      {data === undefined ? (
        error === null ? (
          <Reading what="the case" />
        ) : (
          <Failure error={error} what="The case" />
        )
      ) : data === null ? (
        <PlaceHolder title="The report has no such case." role="alert" />
      ) : (
        <CaseBody one={data} />
      )}
    </Drawer>
  );
}

interface Wanted {
  readonly id: string;
  readonly variant: string;
  readonly signal: AbortSignal;
}

/** Reads the case of an address, on whichever page of the report it is. */
async function findCase(report: string, { id, variant, signal }: Wanted): Promise<EvalCase | null> {
  const query = { text: id.slice(0, 500), ...(variant === '' ? {} : { variant }) };
  let cursor: string | undefined;
  do {
    const page = await api.evals.get(report, { ...query, ...(cursor && { cursor }) }, { signal });
    const found = page.cases.find((one) => one.id === id);
    if (found !== undefined) return found;
    cursor = page.cursor;
  } while (cursor !== undefined);
  return null;
}

function CaseBody({ one }: { readonly one: EvalCase }) {
  return (
    <div className={styles['body']}>
      <Facts>
        <Fact name="Passed">
          <Status status={passedCase(one) ? 'completed' : 'failed'}>{percent(one.passRate)}</Status>
        </Fact>
        {one.description === undefined ? null : (
          <Fact name="Description">
            <bdi>{visible(one.description)}</bdi>
          </Fact>
        )}
        {one.tags.length === 0 ? null : (
          <Fact name="Tags">
            <bdi>{one.tags.map((tag) => firstLine(tag, 60)).join(', ')}</bdi>
          </Fact>
        )}
      </Facts>
      <ValueBlock title="Expected" value={one.expect} />
      {one.trials.map((trial) => (
        <Trial key={trial.trial} trial={trial} isOnly={one.trials.length === 1} />
      ))}
    </div>
  );
}

interface TrialProps {
  readonly trial: EvalCase['trials'][number];
  readonly isOnly: boolean;
}

function Trial({ trial, isOnly }: TrialProps) {
  const { usage, cost, error } = trial;
  return (
    <section className={styles['trial']} aria-label={`Trial ${trial.trial}`}>
      {isOnly ? null : (
        <h3>
          Trial {trial.trial}{' '}
          <Status status={trial.passed ? 'completed' : 'failed'}>
            {trial.passed ? 'Passed' : 'Failed'}
          </Status>
        </h3>
      )}
      {trial.turns.map(({ user, assistant, toolCalls }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: turns have a place, and no name
        <div key={i} className={styles['turn']}>
          <TextBlock title="Input" text={user} />
          {toolCalls.length === 0 ? null : <ValueBlock title="Tool calls" value={toolCalls} />}
          <TextBlock title="Output" text={assistant} />
        </div>
      ))}
      {error === undefined ? null : <TextBlock title="Error" text={error.message} />}
      <Scores scores={trial.scores} />
      <Facts>
        <Fact name="Status">{trial.status.replaceAll('_', ' ')}</Fact>
        <Fact name="Time">{duration(trial.durationMs)}</Fact>
        <Fact name="Cost">{price(cost)}</Fact>
        <Fact name="Tokens">{count(usage.inputTokens + usage.outputTokens)}</Fact>
        <Fact name="Session">
          <SessionLink session={trial.session} />
        </Fact>
      </Facts>
    </section>
  );
}

/** Scores with their reasons: those that did not pass first. */
function Scores({ scores }: Pick<EvalCase['trials'][number], 'scores'>) {
  const sorted = scores.toSorted((a, b) => Number(a.passed) - Number(b.passed));
  return (
    <ul className={styles['scores']} aria-label="Scores">
      {sorted.map(({ scorer, score, passed, threshold, explanation }) => (
        <li key={scorer}>
          <Status status={passed ? 'completed' : 'failed'}>{scoreText(score)}</Status>
          <b>
            <bdi>{firstLine(scorer, 60)}</bdi>
          </b>
          <span className="faint">passes from {scoreText(threshold)}</span>
          <p>
            <bdi>{visible(explanation.slice(0, 2_000))}</bdi>
          </p>
        </li>
      ))}
    </ul>
  );
}
