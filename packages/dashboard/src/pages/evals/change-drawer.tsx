import { CopyButton } from '../../components/copy/copy-button.tsx';
import { Drawer } from '../../components/drawer.tsx';
import { DrawerTitle, Fact, Facts } from '../../components/facts.tsx';
import { duration } from '../../components/format.ts';
import { Status } from '../../components/status.tsx';
import { firstLine } from '../../components/visible-text.ts';
import {
  type CaseChange,
  type CaseSide,
  changeWords,
  percent,
  price,
  scoreText,
} from './eval-words.ts';
import styles from './evals-page.module.css';
import { SessionLink } from './session-link.tsx';
import { TextBlock, ValueBlock } from './texts.tsx';

interface ChangeDrawerProps {
  readonly one: CaseChange;
  readonly onClose: () => void;
}

/** A case of a comparison: what was asked, and both sides in full. */
export function ChangeDrawer({ one, onClose }: ChangeDrawerProps) {
  const [ring, words] = changeWords[one.change];
  return (
    <Drawer
      label="Compared case"
      head={
        <>
          <DrawerTitle>{firstLine(one.id, 200)}</DrawerTitle>
          <Status status={ring}>{words}</Status>
        </>
      }
      foot={<CopyButton text={() => JSON.stringify(one, null, 2)}>Copy as JSON</CopyButton>}
      onClose={onClose}
    >
      <div className={styles['body']}>
        <TextBlock title="Input" text={one.input} />
        <ValueBlock title="Expected" value={one.expect} />
        <Side name="A" side={one.baseline} />
        <Side name="B" side={one.candidate} />
      </div>
    </Drawer>
  );
}

function Side({ name, side }: { readonly name: string; readonly side: CaseSide | undefined }) {
  return (
    <section className={styles['trial']} aria-label={`Side ${name}`}>
      <h3>
        {name}{' '}
        {side === undefined ? (
          <span className="faint">has no such case</span>
        ) : (
          <Status status={side.passRate === 1 ? 'completed' : 'failed'}>
            {percent(side.passRate)}
          </Status>
        )}
      </h3>
      {side === undefined ? null : (
        <>
          <TextBlock title="Output" text={side.output} />
          <TextBlock title="Finding" text={side.finding} />
          <Facts>
            {Object.entries(side.scores).map(([scorer, score]) => (
              <Fact key={scorer} name={firstLine(scorer, 40)}>
                {scoreText(score)}
              </Fact>
            ))}
            <Fact name="Time">{duration(side.durationMs)}</Fact>
            <Fact name="Cost">{price(side.cost)}</Fact>
            {side.session === undefined ? null : (
              <Fact name="Session">
                <SessionLink session={side.session} />
              </Fact>
            )}
          </Facts>
        </>
      )}
    </section>
  );
}
