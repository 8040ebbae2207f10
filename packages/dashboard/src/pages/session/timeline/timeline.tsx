import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { duration } from '../../../components/format.ts';
import { KindGlyph } from '../../../components/kind-glyph.tsx';
import { firstLine } from '../../../components/visible-text.ts';
import { Creature } from '../../../creatures/creature.tsx';
import { Canvas, type CanvasSize } from '../../../drawing/canvas.tsx';
import { Layer } from '../../../drawing/layer.ts';
import type { Bar } from '../../../ledger/bars.ts';
import { FoldedTime, gapsOf } from '../../../ledger/folded-time.ts';
import type { FollowedLedger } from '../../../ledger/followed-ledger.ts';
import type { Position } from '../position.ts';
import { legend } from './draw-picture.ts';
import {
  drawEvents,
  drawGround,
  instantAtPlace,
  placeOfInstant,
  rowHeight,
  rulerHeight,
  type TimelineScene,
} from './draw-timeline.ts';
import { Minimap } from './minimap.tsx';
import { PictureButton } from './picture-button.tsx';
import { rowsOf } from './rows.ts';
import { moved, type TimeView, within, zoomed } from './time-view.ts';
import styles from './timeline.module.css';

interface TimelineProps {
  readonly ledger: FollowedLedger;
  readonly position: Position;
}

/** The session over time: bars of invocations, model calls, tools and waits. */
export function Timeline({ ledger, position }: TimelineProps) {
  const [isFolded, setFolded] = useState(true);
  const { scene, setView, fit, whole } = useScene(ledger, isFolded);
  const zoom = (factor: number): void => {
    const at = ledger.columns.eventAt(position.seq)?.at ?? scene.end;
    setView(zoomed(scene.view, factor, scene.time.place(at)));
  };
  return (
    <section className={styles['timeline']} aria-label="Timeline">
      <header className={styles['head']}>
        <h2>Timeline</h2>
        <div className={styles['legend']} aria-hidden="true">
          {legend.map(([kind, word]) => (
            <span key={kind}>
              <KindGlyph kind={kind} />
              {word}
            </span>
          ))}
        </div>
        <span className={styles['space']} />
        <PictureButton session={ledger.session} scene={scene} />
        <Button look="bare" isPressed={isFolded} onPress={() => setFolded(!isFolded)}>
          {isFolded ? 'Waits folded' : 'True scale'}
        </Button>
        <div className={styles['zoom']} role="group" aria-label="Zoom">
          <Button label="Zoom out" onPress={() => zoom(1.7)}>
            −
          </Button>
          <Button onPress={fit}>Fit</Button>
          <Button label="Zoom in" onPress={() => zoom(0.6)}>
            +
          </Button>
        </div>
      </header>
      <Minimap scene={scene} whole={whole} position={position} onView={setView} />
      <div className={styles['body']} role="group" aria-label="Rows of the timeline" tabIndex={0}>
        <div className={styles['rows']} style={{ paddingTop: rulerHeight }}>
          {scene.rows.rows.map((row) => (
            <div key={row.key} style={{ paddingLeft: 16 + Math.min(3, row.depth) * 12 }}>
              {row.kind === 'invocation' ? (
                <Creature name={row.agent ?? row.label} />
              ) : (
                <KindGlyph kind={row.kind} />
              )}
              <span className="cut" title={firstLine(row.key)}>
                <bdi>{firstLine(row.label, 80)}</bdi>
              </span>
            </div>
          ))}
        </div>
        <Plot scene={scene} shape={ledger.shape} position={position} onView={setView} />
      </div>
    </section>
  );
}

function useScene(ledger: FollowedLedger, isFolded: boolean) {
  const { columns, bars, shape } = ledger;
  const { count } = columns;
  const [chosen, setChosen] = useState<TimeView | undefined>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the shape stands for columns and bars
  const parts = useMemo(() => {
    const start = columns.at[0] ?? 0;
    const end = columns.at[Math.max(0, count - 1)] ?? start;
    const time = new FoldedTime(isFolded ? gapsOf(bars.all, end) : []);
    return { start, end: Math.max(end, start + 1), time, rows: rowsOf(columns) };
  }, [columns, bars, count, shape, isFolded]);
  const whole = useMemo(
    () => ({ from: parts.time.place(parts.start), to: parts.time.place(parts.end) }),
    [parts],
  );
  const scene = useMemo(
    (): TimelineScene => ({
      ...parts,
      columns,
      bars: bars.all,
      view: within(chosen ?? whole, whole),
    }),
    [parts, columns, bars, chosen, whole],
  );
  const setView = useCallback((view: TimeView) => setChosen(within(view, whole)), [whole]);
  const fit = useCallback(() => setChosen(undefined), []);
  return { scene, setView, fit, whole };
}

interface PlotProps {
  readonly scene: TimelineScene;
  readonly shape: number;
  readonly position: Position;
  readonly onView: (view: TimeView) => void;
}

function Plot({ scene, shape, position, onView }: PlotProps) {
  const element = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState<CanvasSize>({ width: 0, height: 0 });
  const [pointed, setPointed] = useState<Pointed | undefined>();
  const layer = useMemo(() => new Layer(), []);
  const at = scene.columns.eventAt(position.seq)?.at ?? scene.end;
  const key = `${shape} ${scene.view.from} ${scene.view.to}`;
  const draw = useCallback(
    (context: CanvasRenderingContext2D, drawn: CanvasSize) => {
      drawGround(context, drawn, scene);
      layer.paint(drawn, key, (picture) => drawEvents(picture, drawn, scene));
      layer.copyTo(context, drawn, placeOfInstant(scene, at, drawn.width) + 0.5);
    },
    [layer, scene, key, at],
  );
  useTimelineWheel(element, scene, onView);
  const pointer = usePlotPointer({ scene, position, onPoint: setPointed });
  const height = rulerHeight + scene.rows.rows.length * rowHeight + 6;
  const x = placeOfInstant(scene, at, size.width);
  return (
    <div ref={element} className={styles['plot']} style={{ height }} {...pointer}>
      <Canvas
        draw={draw}
        onSize={setSize}
        className={styles['canvas']}
        label="Bars of invocations, model calls, tools and waits over time. The ledger below says the same as a list."
      />
      <div
        className={styles['playhead']}
        style={{ transform: `translateX(${Math.max(-20, Math.min(size.width - 1, x))}px)` }}
      >
        <i />
      </div>
      {pointed === undefined ? null : <Tip {...pointed} end={scene.end} width={size.width} />}
    </div>
  );
}

interface PlotPointer {
  readonly scene: TimelineScene;
  readonly position: Position;
  readonly onPoint: (pointed: Pointed | undefined) => void;
}

/** A press or a drag goes to the last event at or before that time. */
function usePlotPointer({ scene, position, onPoint }: PlotPointer) {
  const isDown = useRef(false);
  const go = (event: React.PointerEvent, isJump: boolean): void => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const instant = instantAtPlace(scene, event.clientX - left, width);
    position.go(scene.columns.seqAtTime(instant), isJump);
  };
  return {
    onPointerDown: (event: React.PointerEvent) => {
      if (event.button !== 0) return;
      isDown.current = true;
      event.currentTarget.setPointerCapture(event.pointerId);
      go(event, true);
    },
    onPointerMove: (event: React.PointerEvent) => {
      if (isDown.current) go(event, false);
      else onPoint(barUnder(event, scene));
    },
    onPointerUp: () => {
      isDown.current = false;
    },
    onPointerLeave: () => onPoint(undefined),
  };
}

/** Bar under the pointer, and the place of the pointer. */
interface Pointed {
  readonly bar: Bar;
  readonly x: number;
  readonly y: number;
}

interface TipProps extends Pointed {
  readonly end: number;
  readonly width: number;
}

function Tip({ bar, x, y, end, width }: TipProps) {
  return (
    <div
      className={styles['tip']}
      style={{ left: Math.min(Math.max(0, width - 220), x + 12), top: y + 14 }}
    >
      <bdi>
        {bar.kind} {firstLine(bar.name, 60)}
      </bdi>
      <small>
        {duration(Math.min(bar.endedAt, end) - bar.startedAt)} · #{bar.from}
        {bar.to === 0 ? ', still open' : ` to #${bar.to}`}
      </small>
    </div>
  );
}

/** Returns the shortest bar under the pointer: the one that is drawn above the others. */
function barUnder(event: React.PointerEvent, scene: TimelineScene): Pointed | undefined {
  const { left, top, width } = event.currentTarget.getBoundingClientRect();
  const [x, y] = [event.clientX - left, event.clientY - top];
  const row = Math.floor((y - rulerHeight) / rowHeight);
  const instant = instantAtPlace(scene, x, width);
  let found: Bar | undefined;
  for (const bar of scene.bars) {
    if (bar.kind === 'invocation' || bar.startedAt > instant) continue;
    if (Math.min(bar.endedAt, scene.end) < instant) continue;
    if (scene.rows.rowOf[bar.invocation] === row) found = bar;
  }
  return found === undefined ? undefined : { bar: found, x, y };
}

/** The wheel pans; with Ctrl it zooms around the pointer. */
function useTimelineWheel(
  element: React.RefObject<HTMLDivElement | null>,
  scene: TimelineScene,
  onView: (view: TimeView) => void,
): void {
  const latest = useRef({ scene, onView });
  latest.current = { scene, onView };
  useEffect(() => {
    const target = element.current;
    if (target === null) return undefined;
    const onWheel = (event: WheelEvent): void => {
      const { scene: seen, onView: show } = latest.current;
      const { left, width } = target.getBoundingClientRect();
      const { view, time } = seen;
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        const around = time.place(instantAtPlace(seen, event.clientX - left, width));
        show(zoomed(view, Math.exp(event.deltaY * 0.004), around));
      } else if (event.deltaX !== 0 || event.shiftKey) {
        event.preventDefault();
        const by = event.deltaX === 0 ? event.deltaY : event.deltaX;
        show(moved(view, (by / width) * (view.to - view.from)));
      }
    };
    target.addEventListener('wheel', onWheel, { passive: false });
    return () => target.removeEventListener('wheel', onWheel);
  }, [element]);
}
