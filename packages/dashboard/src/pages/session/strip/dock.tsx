import { useConnection } from '../../../api/connection.ts';
import { Button } from '../../../components/button.tsx';
import { age } from '../../../components/format.ts';
import { KindGlyph } from '../../../components/kind-glyph.tsx';
import { firstLine } from '../../../components/visible-text.ts';
import type { Columns } from '../../../ledger/columns.ts';
import type { Position } from '../position.ts';
import styles from './dock.module.css';
import { Strip } from './strip.tsx';

interface DockProps {
  readonly columns: Columns;
  readonly count: number;
  readonly position: Position;
  readonly isPlaying: boolean;
  /** False once the session can be read no more. */
  readonly isFollowed: boolean;
  readonly onPlay: () => void;
  readonly onFork: () => void;
  /** Why no fork can be made. */
  readonly unlessFork: string | undefined;
}

/** The foot of a session: where the reader is, and how to move. */
export function Dock(props: DockProps) {
  const { columns, count, position, isPlaying, isFollowed, onPlay, onFork, unlessFork } = props;
  const { seq, isLive, goLive } = position;
  const event = columns.eventAt(seq);
  const newest = columns.eventAt(count);
  const isReached = useConnection().reach.state !== 'away' && isFollowed;
  return (
    <section className={styles['dock']} aria-label="Scrubber">
      {isLive || event === undefined || newest === undefined ? null : (
        <div className={styles['past']}>
          <span>
            You see #{seq}
            {newest.at - event.at < 1_000 ? '' : `, ${age(newest.at - event.at)} before the newest`}
          </span>
          <button type="button" onClick={goLive}>
            Back to live · L
          </button>
        </div>
      )}
      <Moves position={position} isPlaying={isPlaying} onPlay={onPlay} />
      <Strip columns={columns} count={count} position={position} />
      <div className={styles['where']}>
        <div className="number">
          <b>#{seq.toLocaleString('en')}</b>
          <span className="faint">of {count.toLocaleString('en')}</span>
        </div>
        {event === undefined ? null : (
          <div className={styles['what']}>
            <KindGlyph kind={event.kind} />
            <span className="cut">
              {event.type}
              {event.name === undefined ? '' : ` · ${firstLine(event.name, 60)}`}
            </span>
          </div>
        )}
      </div>
      <div className={styles['acts']}>
        <Button label="Live" isPressed={isLive} onPress={goLive}>
          <span className={styles['live']} data-on={(isLive && isReached) || undefined} />
          Live
        </Button>
        <Button look="first" icon="fork" shortcut="F" unless={unlessFork} onPress={onFork}>
          <span className={styles['forkWords']}>Fork from #{seq}</span>
        </Button>
      </div>
    </section>
  );
}

type MovesProps = Pick<DockProps, 'position' | 'isPlaying' | 'onPlay'>;

function Moves({ position, isPlaying, onPlay }: MovesProps) {
  const { seq, go } = position;
  return (
    <div className={styles['moves']} role="group" aria-label="Move through the ledger">
      <Button look="bare" icon="first" label="First event (Home)" onPress={() => go(1, true)} />
      <Button look="bare" icon="left" label="One event back (←)" onPress={() => go(seq - 1)} />
      <Button
        look="bare"
        icon={isPlaying ? 'pause' : 'play'}
        label={isPlaying ? 'Pause (Space)' : 'Play (Space)'}
        onPress={onPlay}
      />
      <Button look="bare" icon="right" label="One event forward (→)" onPress={() => go(seq + 1)} />
    </div>
  );
}
