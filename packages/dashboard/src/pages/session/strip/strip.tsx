import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { clock } from '../../../components/format.ts';
import { KindGlyph } from '../../../components/kind-glyph.tsx';
import { firstLine } from '../../../components/visible-text.ts';
import { Canvas, type CanvasSize } from '../../../drawing/canvas.tsx';
import { Layer } from '../../../drawing/layer.ts';
import type { Columns } from '../../../ledger/columns.ts';
import type { Position } from '../position.ts';
import { drawMarks, drawScale, seqAtPlace } from './draw-strip.ts';
import styles from './strip.module.css';

interface StripProps {
  readonly columns: Columns;
  readonly count: number;
  readonly position: Position;
}

/** Vertical distance in pixels from which a drag moves at one tenth of its speed. */
const fineFrom = 40;
const fineShare = 0.1;

/** The scrubber: a slider over the whole ledger, ordered by `seq`. */
export function Strip({ columns, count, position }: StripProps) {
  const { seq, go } = position;
  const element = useRef<HTMLDivElement>(null);
  const [pointed, setPointed] = useState<number | undefined>();
  const layer = useMemo(() => new Layer(), []);
  const draw = useCallback(
    (context: CanvasRenderingContext2D, size: CanvasSize) => {
      layer.paint(size, `${count}`, (picture) => drawMarks(picture, size, columns));
      layer.copyTo(context, size, (seq / Math.max(1, count)) * size.width);
      drawScale(context, size, count);
    },
    [layer, columns, count, seq],
  );
  const drag = useDrag(element, { count, seq, go });
  useWheel(element, seq, go);
  const event = columns.eventAt(seq);
  const place = count === 0 ? 0 : ((seq - 0.5) / count) * 100;
  return (
    <div
      ref={element}
      className={styles['strip']}
      role="slider"
      tabIndex={0}
      aria-label="Ledger"
      aria-valuemin={1}
      aria-valuemax={Math.max(1, count)}
      aria-valuenow={Math.max(1, seq)}
      aria-valuetext={
        event === undefined
          ? 'no event'
          : `event ${seq} of ${count}, ${event.type}${event.name === undefined ? '' : `, ${firstLine(event.name, 60)}`}, ${clock(event.at)}`
      }
      onPointerDown={(down) => {
        setPointed(undefined);
        drag.begin(down);
      }}
      onPointerMove={(move) => {
        if (!drag.move(move)) setPointed(seqAtPlace(placeOf(element.current, move.clientX), count));
      }}
      onPointerUp={drag.end}
      onPointerCancel={drag.end}
      onPointerLeave={() => setPointed(undefined)}
    >
      <Canvas draw={draw} className={styles['canvas']} />
      <div className={styles['head']} style={{ left: `${place}%` }} aria-hidden="true">
        <b>{seq.toLocaleString('en')}</b>
      </div>
      <Pointed columns={columns} count={count} seq={pointed} />
    </div>
  );
}

/** A thin line and the words of the event under the pointer: it changes nothing. */
function Pointed({
  columns,
  count,
  seq,
}: {
  readonly columns: Columns;
  readonly count: number;
  readonly seq: number | undefined;
}) {
  const event = seq === undefined ? undefined : columns.eventAt(seq);
  if (event === undefined) return null;
  const place = (event.seq - 0.5) / count;
  return (
    <div className={styles['ghost']} style={{ left: `${place * 100}%` }} aria-hidden="true">
      <span data-side={place > 0.8 ? 'left' : place < 0.2 ? 'right' : undefined}>
        <KindGlyph kind={event.kind} />
        <b className="mono">#{event.seq}</b>
        {event.type}
        <span className="faint">{clock(event.at)}</span>
      </span>
    </div>
  );
}

function placeOf(element: HTMLElement | null, x: number): number {
  if (element === null) return 0;
  const { left, width } = element.getBoundingClientRect();
  return width === 0 ? 0 : Math.max(0, Math.min(1, (x - left) / width));
}

interface Dragging {
  readonly count: number;
  readonly seq: number;
  readonly go: Position['go'];
}

/** A press goes there at once, and drags from there; far from the strip it moves finely. */
function useDrag(element: React.RefObject<HTMLDivElement | null>, { count, seq, go }: Dragging) {
  const from = useRef<{ x: number; y: number; place: number } | undefined>(undefined);
  const begin = (event: React.PointerEvent): void => {
    if (event.button !== 0 || count === 0) return;
    element.current?.setPointerCapture(event.pointerId);
    const place = placeOf(element.current, event.clientX);
    from.current = { x: event.clientX, y: event.clientY, place };
    go(seqAtPlace(place, count), true);
  };
  /** @returns true while it drags */
  const move = (event: React.PointerEvent): boolean => {
    const start = from.current;
    const target = element.current;
    if (start === undefined || target === null) return false;
    const { width, top, bottom } = target.getBoundingClientRect();
    const away = Math.max(top - event.clientY, event.clientY - bottom, 0);
    const speed = away > fineFrom ? fineShare : 1;
    const place = Math.max(
      0,
      Math.min(1, start.place + ((event.clientX - start.x) / width) * speed),
    );
    from.current = { x: event.clientX, y: event.clientY, place };
    const wanted = seqAtPlace(place, count);
    if (wanted !== seq) go(wanted);
    return true;
  };
  const end = (): void => {
    from.current = undefined;
  };
  return { begin, move, end };
}

/** One event for each notch of the wheel. */
function useWheel(
  element: React.RefObject<HTMLDivElement | null>,
  seq: number,
  go: Position['go'],
): void {
  const latest = useRef(seq);
  latest.current = seq;
  useEffect(() => {
    const target = element.current;
    if (target === null) return undefined;
    const onWheel = (event: WheelEvent): void => {
      event.preventDefault();
      go(latest.current + Math.sign(event.deltaY || event.deltaX));
    };
    target.addEventListener('wheel', onWheel, { passive: false });
    return () => target.removeEventListener('wheel', onWheel);
  }, [element, go]);
}
